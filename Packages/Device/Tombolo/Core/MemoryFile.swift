internal import Foundation
internal import Synchronization
internal import TomboloModel
internal import TomboloSQLiteStore

/// The file behind an in-memory Realm. It's in a folder of the process and is deleted when its last Realm closes.
/// SQLite's own in-memory databases can't be used: they don't allow reading one version while another connection
/// writes.
final class MemoryFile: Sendable {
    let path: String

    private static let useCounts = Mutex<[String: Int]>([:])

    /// - Throws: if the folder for temporary files isn't writable.
    init(identifier: String) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tombolo-memory-\(ProcessInfo.processInfo.processIdentifier)")
        _ = Self.deleteLeftovers
        let path = folder.appending(path: "\(FileName.fitting(identifier.utf8.hexadecimal)).sqlite").path
        try Self.useCounts.withLock { counts in
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            counts[path, default: 0] += 1
        }
        self.path = path
    }

    /// Deletes the folders of processes that were killed, once per process.
    private static let deleteLeftovers: Void = {
        let folder = FileManager.default.temporaryDirectory
        let prefix = "tombolo-memory-"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(prefix) {
            guard let process = Int32(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else {
                continue
            }
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }()

    deinit {
        let session: SyncSession? = Self.useCounts.withLock { counts in
            counts[path, default: 1] -= 1
            guard counts[path] == 0 else { return nil }
            counts[path] = nil
            let session = SyncSession.remove(path: path)
            RealmFiles.delete(at: path)
            // Keep the folder if another Realm may be about to create its file there.
            if counts.isEmpty { rmdir(URL(fileURLWithPath: path).deletingLastPathComponent().path) }
            return session
        }
        // Close the session outside the lock, because closing waits for the engine.
        session?.close()
    }
}

/// A Realm's file and SQLite's files beside it.
enum RealmFiles {
    /// The same path for all spellings of a file's location. Works even if the file doesn't exist yet, as long as its
    /// folder does.
    static func path(of url: URL) -> String {
        url.deletingLastPathComponent().resolvingSymlinksInPath().appending(path: url.lastPathComponent)
            .resolvingSymlinksInPath().path
    }

    /// The suffix of the copy that a client reset keeps for its second block.
    static let beforeResetSuffix = ".before-reset"

    static func delete(at path: String) {
        for suffix in ["", "-wal", "-shm", "-journal", beforeResetSuffix] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        for suffix in ["", beforeResetSuffix] { UnfinishedFile.deleteLeftovers(of: path + suffix) }
    }
}
