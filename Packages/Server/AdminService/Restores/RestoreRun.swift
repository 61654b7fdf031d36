/// The database's record of a restore that is in progress, that failed, or that produced this database.
package struct RestoreRun: Sendable {
    /// What is restored: the name of a backup, or of a database that was put aside.
    package let source: String
    /// The name or address that the user had when asking for it.
    package let userName: String
    /// In microseconds since 1970; the end is nil while the restore is in progress.
    package let startedAt: Int64
    package let finishedAt: Int64?
    /// Why nothing was restored.
    package let problem: String?
    /// The new name of the database that was in use until then.
    package let kept: String?
}

/// The step of a restore in progress.
package enum RestoreStep: Sendable {
    case checking, making, restoring, preparing, swapping
}

/// A database that was put aside when another took its place.
package struct KeptDatabase: Sendable {
    package let name: String
    /// When it was put aside, in microseconds since 1970.
    package let time: Int64
    /// Nil if the user of `TOMBOLO_RESTORE_URL` isn't allowed to read the size.
    package let byteCount: Int64?
}
