import PostgresClient
import TomboloPostgresStore

/// One kind of work that servers do by themselves, with its last run and the next.
package struct ScheduledWork: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case purge, auditCopy, auditExpiry, jobs, jobExpiry, changelogRetention, backup
    }

    package let kind: Kind
    /// When the last run began and ended, in microseconds since 1970; nil if there is none.
    package var startedAt: Int64?
    package var finishedAt: Int64?
    /// When the next run is due; nil for work that goes on all the time.
    package var nextAt: Int64?
    /// What came of the last run, in words.
    package var result: String?
    /// Why the last run failed.
    package var problem: String?

    init(_ kind: Kind) { self.kind = kind }
}
