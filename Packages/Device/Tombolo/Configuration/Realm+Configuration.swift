public import Foundation
internal import Synchronization
public import TomboloModel
package import TomboloSQLiteStore

extension Realm {
    /// Where a Realm is stored, which classes it has, and how it's opened.
    public struct Configuration: Sendable {
        /// The configuration that ``Realm/init()`` uses.
        public static var defaultConfiguration: Configuration {
            get { shared.withLock { $0 } }
            set { shared.withLock { $0 = newValue } }
        }

        private static let shared = Mutex(Configuration())

        /// The file. Setting it clears ``inMemoryIdentifier``.
        public var fileURL: URL? {
            get { place.fileURL }
            set { if let newValue { place = .file(newValue) } else { place = .file(Self.defaultFileURL) } }
        }

        /// The name of an in-memory Realm. It exists as long as one of its instances is open, and no other process sees
        /// it.
        public var inMemoryIdentifier: String? {
            get { if case .memory(let identifier) = place { identifier } else { nil } }
            set { if let newValue { place = .memory(newValue) } else if inMemoryIdentifier != nil { fileURL = nil } }
        }

        /// The user to synchronise as, or nil for a local Realm. A synced file can't become local, and a local file
        /// can't become synced.
        public var syncConfiguration: SyncConfiguration?

        /// Queues local writes for upload even without a user. For tests, including those that run a sync engine on the
        /// file themselves.
        package var keepsUploadQueue = false

        /// For tests: called when a step of a migration is done.
        package var onMigrationStep: (@Sendable (LocalMigrationPlan.Step) -> Void)?

        var isSynced: Bool { keepsUploadQueue || syncConfiguration != nil }

        /// The key, 64 bytes, for properties declared with `@Persisted(encrypted: true)`. Unlike in Realm, the rest of
        /// the file isn't encrypted, so a key without such a property is refused.
        public var encryptionKey: Data?

        /// Opens an existing file for reading only.
        public var readOnly: Bool

        /// The version of the classes in a local file. Raise it whenever a property of a class changes. Adding or
        /// removing classes or indexes doesn't require a new version. A file with a higher version is refused.
        public var schemaVersion: UInt64

        /// Converts the objects of a local file with a lower version. Adding or removing properties doesn't require a
        /// block: a new property gets its declared value or its type's default.
        public var migrationBlock: MigrationBlock?

        /// Deletes a local file that needs a migration, and starts with an empty one, for use during development. The
        /// migration block isn't called.
        public var deleteRealmIfMigrationNeeded: Bool

        /// Called when the process first opens the file, with the size of the file and of its used part, in bytes.
        /// Return true to compact the file.
        public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?

        /// The model classes; classes they link to are added. Nil for all of the program's classes except those whose
        /// `shouldIncludeInDefaultSchema()` returns false.
        public var objectTypes: [ObjectBase.Type]?

        /// The maximum number of versions from the oldest one that a Realm in the process reads up to the newest.
        /// Beyond that, write transactions throw ``Realm/Error``, because the file keeps everything that has changed
        /// since the oldest of them.
        public var maximumNumberOfActiveVersions: UInt?

        /// A file made by ``Realm/writeCopy(toFile:encryptionKey:)``. It's copied to ``fileURL`` if no file exists
        /// there yet.
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
    /// The settings, without the encryption key and the user's token.
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
