/// What the database has of a backup: of one that was made, one under way, or one that failed.
package struct BackupRun: Sendable {
    package let name: String
    package let isAutomatic: Bool
    /// Who asked for it, if they are still there: their name, or their address.
    package let userName: String?
    /// The version of the database's server.
    package let serverVersion: String?
    /// In microseconds since 1970; nil while it's under way.
    package let startedAt: Int64
    package let finishedAt: Int64?
    /// Why there is no backup.
    package let problem: String?
}

/// What people do with backups, for the audit log.
enum BackupAct: String, Sendable {
    case requested, downloaded, deleted
}
