internal import Foundation
internal import Synchronization
internal import TomboloSQLiteStore

/// One use of a file in this process, from before it's opened until its Realm is released. All uses of a file must have
/// the same settings.
final class OpenFile: Sendable {
    /// The settings that must be the same for all uses of a file.
    struct Settings: Equatable {
        var isReadOnly: Bool
        var isInMemory: Bool
        var isSynced: Bool
        var partition: Partition?
        var schemaVersion: UInt64
        var encryptionKey: Data?

        init(_ configuration: Realm.Configuration) {
            isReadOnly = configuration.readOnly
            isInMemory = configuration.inMemoryIdentifier != nil
            isSynced = configuration.isSynced
            partition = configuration.syncConfiguration?.partition
            schemaVersion = configuration.schemaVersion
            encryptionKey = configuration.encryptionKey
        }

        /// The first difference, in Realm's words, or nil if there is none.
        func difference(from other: Settings) -> String? {
            if isReadOnly != other.isReadOnly { return "with different read permissions" }
            if isInMemory != other.isInMemory { return "with different inMemory settings" }
            if isSynced != other.isSynced || partition != other.partition { return "with different sync configuration" }
            if encryptionKey != other.encryptionKey { return "with a different encryption key" }
            if schemaVersion != other.schemaVersion {
                return "with different schema version (\(other.schemaVersion), not \(schemaVersion))"
            }
            return nil
        }
    }

    private struct Uses {
        let settings: Settings
        var count = 0
    }

    private static let all = Mutex<[PathKey: Uses]>([:])

    private static let gate = NSCondition()
    /// The thread that is opening each file. Changed only under `gate`.
    private static let opening = Mutex<[PathKey: ThreadID]>([:])

    /// Opens a file while other callers in the process wait, since a migration can take a long time.
    /// - Throws: ``Realm/Error`` if this thread is already opening the file, which only happens in the file's own
    ///   migration block.
    static func alone<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        let key = PathKey(path)
        gate.lock()
        while let owner = opening.withLock({ $0[key] }) {
            if owner == .current {
                gate.unlock()
                throw Realm.Error(
                    .alreadyOpen,
                    "'\(path)' cannot be opened inside its own migration block: use the block's Migration.")
            }
            gate.wait()
        }
        opening.withLock { $0[key] = .current }
        gate.unlock()
        defer {
            gate.lock()
            opening.withLock { $0[key] = nil }
            gate.broadcast()
            gate.unlock()
        }
        return try body()
    }

    private let path: String
    private let settings: Settings
    /// Whether the file wasn't open elsewhere in the process.
    let isFirst: Bool

    /// - Throws: ``Realm/Error`` with the code `alreadyOpen` if the file is open with other settings.
    init(_ path: String, _ settings: Settings) throws {
        self.path = path
        self.settings = settings
        isFirst = try Self.all.withLock { all in
            var uses = all[PathKey(path)] ?? Uses(settings: settings)
            if let difference = settings.difference(from: uses.settings) {
                throw Realm.Error(
                    .alreadyOpen,
                    "Realm at path '\(path)' already opened \(difference). Open it everywhere with the same "
                        + "configuration, or release the other Realm and its objects first.")
            }
            uses.count += 1
            all[PathKey(path)] = uses
            return uses.count == 1
        }
    }

    deinit {
        Self.all.withLock { all in
            guard var uses = all[PathKey(path)] else { return }
            uses.count -= 1
            all[PathKey(path)] = uses.count == 0 ? nil : uses
        }
        if settings.partition != nil { SyncSession.closeIfUnused(path: path) }
    }

    /// Whether a Realm in the process uses the file.
    static func isUsed(_ path: String) -> Bool { all.withLock { $0[PathKey(path)] != nil } }
}
