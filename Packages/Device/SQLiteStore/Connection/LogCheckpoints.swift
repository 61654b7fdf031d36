internal import Dispatch
internal import GRDBSQLite
internal import Synchronization

/// Copies a file's write-ahead log into the file on another thread, one file of the process at a time.
///
/// SQLite does that within the commit that makes the log long, and the writer waits for the disk twice. Nothing depends on
/// when it is done: <https://www.sqlite.org/wal.html#ckpt>
final class LogCheckpoints: Sendable {
    /// The log's length, in pages, from which it is copied; SQLite's own.
    static let pageCount: Int32 = 1_000
    /// The length from which the writer copies it itself. The log begins anew only when all of it was copied and nobody has
    /// written since, which may not happen while writers never pause.
    static let maximumPageCount: Int32 = 4_000

    private static let queue = DispatchQueue(label: "tombolo.checkpoints", qos: .utility)

    private let path: String
    private let isRequested = Atomic(false)
    /// Locked while the file is open here.
    private let isClosed = Mutex(false)

    init(path: String) { self.path = path }

    /// Copies the log soon. Has no effect if that was requested and hasn't begun.
    func request() {
        guard !isRequested.exchange(true, ordering: .relaxed) else { return }
        Self.queue.async {
            self.isRequested.store(false, ordering: .relaxed)
            self.isClosed.withLock { isClosed in
                if !isClosed { self.run() }
            }
        }
    }

    /// Copies nothing any more, and waits for what is under way. Call while another connection has the file open: the last
    /// one that closes it would remove the log.
    func close() { isClosed.withLock { $0 = true } }

    /// On a connection of its own, since the other's belongs to its thread. Failures don't matter: the log stays, and is
    /// copied later.
    private func run() {
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        // A connection has no log before it has read.
        guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
            sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil) == SQLITE_OK
        else { return }
        _ = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
}
