/// The database's record of a backup, whether complete, in progress or failed.
package struct BackupRun: Sendable {
    package let name: String
    package let isAutomatic: Bool
    /// The name or address of the user who asked for it, if the account still exists.
    package let userName: String?
    /// The version of the PostgreSQL server.
    package let serverVersion: String?
    /// In microseconds since 1970; the end is nil while the backup is in progress.
    package let startedAt: Int64
    package let finishedAt: Int64?
    /// Why the backup failed.
    package let problem: String?
}

/// What people do with backups, for the audit log.
enum BackupAct: String, Sendable {
    case requested, downloaded, deleted
}
