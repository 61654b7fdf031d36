import PostgresClient
import TomboloPostgresStore

/// One kind of work that servers do by themselves, with its last run and the next.
package struct ScheduledWork: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case purge, auditCopy, auditExpiry, jobs, jobExpiry, requestExpiry, changelogRetention, backup

        /// What ``Schedule/ask(for:by:)`` has run. Nil for what goes on all the time, and for the purge and backups, which
        /// have pages of their own for that.
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
    /// When the last run began and ended, in microseconds since 1970; nil if there is none. Somebody may have entered infinity for
    /// these times (`Int64.max`), or -infinity.
    package var startedAt: Int64?
    package var finishedAt: Int64?
    /// When the next run is due; nil for work that goes on all the time.
    package var nextAt: Int64?
    /// What came of the last run, in words of the reader's language.
    package var result: String?
    /// Why the last run failed, in English.
    package var problem: String?

    init(_ kind: Kind) { self.kind = kind }

    /// Whether ``Schedule/ask(for:by:)`` has it run. What has never run has no server that would.
    package var canBeAskedFor: Bool { kind.routine != nil && startedAt != nil }

    /// Whether a run has begun and not ended, as far as the database knows: it also says so of one whose process was killed.
    package var isRunning: Bool { startedAt.map { start in finishedAt.map { $0 < start } ?? true } ?? false }

    /// Whether a run that somebody asked for, or whose time has come, hasn't begun yet.
    package func isWaiting(_ now: Int64) -> Bool { kind.routine != nil && nextAt.map { $0 <= now } ?? false }

    /// How late a run may be, in microseconds, until no server seems to do it. Those that can be asked for begin within
    /// ``Routine/lookInterval``.
    private var patience: Int64 { (kind.routine == nil ? 15 : 2) * 60 * 1_000_000 }

    package func isLate(_ now: Int64) -> Bool { nextAt.map { $0 < now - patience } ?? false }
}
