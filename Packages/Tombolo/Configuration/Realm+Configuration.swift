public import Foundation
internal import Synchronization
public import TomboloModel

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

        var isSynced: Bool { keepsUploadQueue || syncConfiguration != nil }

        /// Raised by the app whenever a model class changes in a local file.
        public var schemaVersion: UInt64

        /// The model classes; those that they link to are added. Required.
        public var objectTypes: [Object.Type]?

        /// Deletes a file that was made for other classes and starts with an empty one.
        public var deleteRealmIfMigrationNeeded: Bool

        /// Opens the file for reading only; it must exist.
        public var readOnly: Bool

        public init(
            fileURL: URL? = nil, inMemoryIdentifier: String? = nil, syncConfiguration: SyncConfiguration? = nil,
            readOnly: Bool = false, schemaVersion: UInt64 = 0, deleteRealmIfMigrationNeeded: Bool = false,
            objectTypes: [Object.Type]? = nil
        ) {
            place = inMemoryIdentifier.map(Place.memory) ?? .file(fileURL ?? Self.defaultFileURL)
            self.syncConfiguration = syncConfiguration
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.objectTypes = objectTypes
        }

        enum Place: Hashable, Sendable {
            case file(URL)
            case memory(String)

            var fileURL: URL? { if case .file(let url) = self { url } else { nil } }
        }

        private(set) var place: Place

        /// `default.sqlite` in the app's documents on Apple platforms, elsewhere in the user's data folder, by the
        /// program's name.
        private static var defaultFileURL: URL {
            #if canImport(Darwin)
                URL.documentsDirectory.appending(path: "default.sqlite")
            #else
                dataFolder.appending(path: ProcessInfo.processInfo.processName).appending(path: "default.sqlite")
            #endif
        }

        #if !canImport(Darwin)
            /// <https://specifications.freedesktop.org/basedir-spec/latest/>
            private static var dataFolder: URL {
                if let folder = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], folder.hasPrefix("/") {
                    return URL(fileURLWithPath: folder)
                }
                return FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
            }
        #endif
    }
}
