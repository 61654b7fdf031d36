import Foundation

/// Why there is no backup: what went wrong, where, and what to do. It contains no secrets, so people may see it and
/// the log may have it.
struct BackupFailure: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// A system call that failed, with its `errno`.
    init(system what: String, code: Int32 = errno) {
        let hint =
            [ENOSPC, EDQUOT].contains(code) ? " Delete backups that you don't need, or add disk space." : ""
        self.init("\(what): \(String(cString: strerror(code))).\(hint)")
    }

    static let noProgram = BackupFailure(
        "pg_dump isn't on the server's PATH: install the PostgreSQL client programs of the database's version or newer "
            + "(Debian: postgresql-client).")
    static let busy = BackupFailure(
        "Another admin server was already making a backup. Try again when that one is done.")
    static let interrupted = BackupFailure(
        "The server stopped before the backup was complete. The incomplete file was removed.")
    static let tooLong = BackupFailure(
        "pg_dump took longer than \(DumpProgram.maximumDuration.components.seconds / 3_600) hours and was stopped. "
            + "Back up large databases with PostgreSQL's own pg_basebackup.")
}
