public import Foundation
internal import Synchronization
public import TomboloModel
package import TomboloSQLiteStore

extension Realm {
    /// Where a Realm is kept and which classes it has.
    public struct Configuration: Sendable {
        /// The configuration that ``Realm/init()`` uses.
        public static var defaultConfiguration: Configuration {
            get { shared.withLock { $0 } }
            set { shared.withLock { $0 = newValue } }
        }

        private static let shared = Mutex(Configuration())

        /// The file. Setting it makes the Realm a stored one.
        public var fileURL: URL? {
            get { place.fileURL }
            set { if let newValue { place = .file(newValue) } else { place = .file(Self.defaultFileURL) } }
        }

        /// Names a Realm that lives as long as one of its instances is open, and that no other process sees.
        public var inMemoryIdentifier: String? {
            get { if case .memory(let identifier) = place { identifier } else { nil } }
            set { if let newValue { place = .memory(newValue) } else if inMemoryIdentifier != nil { fileURL = nil } }
        }

        /// Local where nil. A file stays what it was made as.
        public var syncConfiguration: SyncConfiguration?

        /// Queues local writes for upload without a user: for tests, and for engines that are given the file.
        package var keepsUploadQueue = false

        /// For tests: called when a step of a migration is done.
        package var onMigrationStep: (@Sendable (LocalMigrationPlan.Step) -> Void)?

        var isSynced: Bool { keepsUploadQueue || syncConfiguration != nil }

        /// 64 bytes that properties declared with `@Persisted(encrypted: true)` are encrypted with. Unlike in Realm the
        /// rest of the file is not: a key without such a property is refused.
        public var encryptionKey: Data?

        /// Opens the file for reading only; it must exist.
        public var readOnly: Bool

        /// Raised by the app whenever a property of a model class changes in a local file; added and removed classes and
        /// indexes need no raise. A file of a higher version is refused.
        public var schemaVersion: UInt64

        /// Converts the objects of a local file of a lower version. Properties are added and removed without it: a new
        /// one has the value that its class declares, or the default of its type.
        public var migrationBlock: MigrationBlock?

        /// Deletes a local file that would have to be migrated, and starts with an empty one: for use while an app is
        /// being written. The migration block is not called.
        public var deleteRealmIfMigrationNeeded: Bool

        /// Asked when the process first opens the file: with the sizes of the file and of what of it is in use, in
        /// bytes. True compacts the file.
        public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?

        /// The model classes; those that they link to are added. Nil for all of the program, but those that say no in
        /// `shouldIncludeInDefaultSchema()`.
        public var objectTypes: [ObjectBase.Type]?

        /// Refuses write transactions, with ``Realm/Error``, while a Realm of the process still reads a version that is
        /// this many versions old: the file keeps everything that has changed since.
        public var maximumNumberOfActiveVersions: UInt?

        /// A file, made by ``Realm/writeCopy(toFile:encryptionKey:)``, that is copied to ``fileURL`` when there is none.
        public var seedFilePath: URL?

        public init(
            fileURL: URL? = nil, inMemoryIdentifier: String? = nil, syncConfiguration: SyncConfiguration? = nil,
            encryptionKey: Data? = nil, readOnly: Bool = false, schemaVersion: UInt64 = 0,
            migrationBlock: MigrationBlock? = nil, deleteRealmIfMigrationNeeded: Bool = false,
            shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil, objectTypes: [ObjectBase.Type]? = nil,
            seedFilePath: URL? = nil
        ) {
            place = inMemoryIdentifier.map(Place.memory) ?? .file(fileURL ?? Self.defaultFileURL)
            self.syncConfiguration = syncConfiguration
            self.encryptionKey = encryptionKey
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.migrationBlock = migrationBlock
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.shouldCompactOnLaunch = shouldCompactOnLaunch
            self.objectTypes = objectTypes
            self.seedFilePath = seedFilePath
        }

        enum Place: Hashable, Sendable {
            case file(URL)
            case memory(String)

            var fileURL: URL? { if case .file(let url) = self { url } else { nil } }
        }

        private(set) var place: Place

        private static var defaultFileURL: URL { AppFolder.url.appending(path: "default.sqlite") }
    }
}

extension Realm.Configuration: CustomStringConvertible {
    /// Without the encryption key, and without the user's token.
    public var description: String {
        var parts: [String] = []
        func add(_ name: String, _ value: Any?) { if let value { parts.append("\(name) = \(value)") } }
        add("fileURL", fileURL?.path)
        add("inMemoryIdentifier", inMemoryIdentifier)
        add("syncConfiguration", syncConfiguration.map { "user '\($0.user.id)'" })
        add("encryptionKey", encryptionKey.map { "(\($0.count) bytes, not shown)" })
        add("readOnly", readOnly)
        add("schemaVersion", schemaVersion)
        add("migrationBlock", migrationBlock.map { _ in "(set)" })
        add("deleteRealmIfMigrationNeeded", deleteRealmIfMigrationNeeded)
        add("shouldCompactOnLaunch", shouldCompactOnLaunch.map { _ in "(set)" })
        add("maximumNumberOfActiveVersions", maximumNumberOfActiveVersions)
        add("seedFilePath", seedFilePath?.path)
        add("objectTypes", objectTypes.map { types in types.map { "\($0)" }.sorted().joined(separator: ", ") })
        return "Realm.Configuration { \(parts.joined(separator: "; ")) }"
    }
}
