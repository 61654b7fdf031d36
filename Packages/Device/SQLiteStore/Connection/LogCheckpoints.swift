internal import Dispatch
internal import GRDBSQLite
internal import Synchronization

/// Copies a file's write-ahead log into the file (a checkpoint) on another thread, one file of the process at a time.
///
/// By itself, SQLite does that within the commit that makes the log too long, so the writer waits for the disk twice.
/// It doesn't matter when the log is copied: <https://www.sqlite.org/wal.html#ckpt>
final class LogCheckpoints: Sendable {
    /// The log length, in pages, at which the log is copied. This is SQLite's own default.
    static let pageCount: Int32 = 1_000
    /// The log length, in pages, at which the writer copies the log itself. The log only starts over once it has been
    /// copied completely and nobody has written since, which may never happen while writers don't pause.
    static let maximumPageCount: Int32 = 4_000

    private static let queue = DispatchQueue(label: "tombolo.checkpoints", qos: .utility)

    private let path: String
    private let isRequested = Atomic(false)
    /// Locked while this has the file open.
    private let isClosed = Mutex(false)

    init(path: String) { self.path = path }

    /// Copies the log soon. Has no effect if a copy was already requested and hasn't begun.
    func request() {
        guard !isRequested.exchange(true, ordering: .relaxed) else { return }
        Self.queue.async {
            self.isRequested.store(false, ordering: .relaxed)
            self.isClosed.withLock { isClosed in
                if !isClosed { self.run() }
            }
        }
    }

    /// Stops further copying, and waits for a copy in progress. Call this while another connection has the file open:
    /// the last connection to close the file would remove the log.
    func close() { isClosed.withLock { $0 = true } }

    /// Uses its own connection, because the other one belongs to its thread. Failures don't matter: the log stays and
    /// is copied later.
    private func run() {
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        // A connection has no log until it has read something.
        guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
            sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil) == SQLITE_OK
        else { return }
        _ = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
}
