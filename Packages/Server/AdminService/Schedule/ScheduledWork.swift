import PostgresClient
import TomboloPostgresStore

/// One kind of work that servers do automatically, with its last run and the next.
package struct ScheduledWork: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case purge, auditCopy, auditExpiry, jobs, jobExpiry, requestExpiry, changelogRetention, backup

        /// The routine that ``Schedule/ask(for:by:)`` runs. Nil for continuous work, and for the purge and backups,
        /// which have their own pages for that.
        var routine: Routine? {
            switch self {
            case .auditExpiry: .auditExpiry
            case .jobExpiry: .jobExpiry
            case .requestExpiry: .requestExpiry
            case .changelogRetention: .changelogRetention
            case .purge, .auditCopy, .jobs, .backup: nil
            }
        }
    }

    package let kind: Kind
    /// When the last run began and ended, in microseconds since 1970; nil if there is none. Somebody may have written
    /// infinity (`Int64.max`) or -infinity into the table.
    package var startedAt: Int64?
    package var finishedAt: Int64?
    /// When the next run is due; nil for continuous work.
    package var nextAt: Int64?
    /// The result of the last run, in the reader's language.
    package var result: String?
    /// Why the last run failed, in English.
    package var problem: String?

    init(_ kind: Kind) { self.kind = kind }

    /// Whether ``Schedule/ask(for:by:)`` can run it. Work that has never run has no server to do it.
    package var canBeAskedFor: Bool { kind.routine != nil && startedAt != nil }

    /// Whether a run has begun and not ended, according to the database. This also holds for a run whose process was
    /// killed.
    package var isRunning: Bool { startedAt.map { start in finishedAt.map { $0 < start } ?? true } ?? false }

    /// Whether a run was requested or is due, but hasn't begun yet.
    package func isWaiting(_ now: Int64) -> Bool { kind.routine != nil && nextAt.map { $0 <= now } ?? false }

    /// How late a run may be, in microseconds, before it counts as not being done by any server. Work that can be
    /// requested begins within ``Routine/lookInterval``.
    private var patience: Int64 { (kind.routine == nil ? 15 : 2) * 60 * 1_000_000 }

    package func isLate(_ now: Int64) -> Bool { nextAt.map { $0 < now - patience } ?? false }
}
