/// What the database has of a restore: of one under way, one that failed, or one that made this database what it is.
package struct RestoreRun: Sendable {
    /// What is restored: a backup's name, or that of a database that was put aside.
    package let source: String
    /// Who asked for it: their name or address as it was then.
    package let userName: String
    /// In microseconds since 1970; nil while it's under way.
    package let startedAt: Int64
    package let finishedAt: Int64?
    /// Why nothing was restored.
    package let problem: String?
    /// What the database that was in use until then is called since.
    package let kept: String?
}

/// What a restore is doing.
package enum RestoreStep: Sendable {
    case checking, making, restoring, preparing, swapping
}

/// A database that was in use until another took its place.
package struct KeptDatabase: Sendable {
    package let name: String
    /// When it was put aside, in microseconds since 1970.
    package let time: Int64
    /// Nil if the user of `TOMBOLO_RESTORE_URL` may not know.
    package let byteCount: Int64?
}
