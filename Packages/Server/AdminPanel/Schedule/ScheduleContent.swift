import AdminService

/// What the template `schedule` shows.
struct ScheduleContent: Sendable {
    struct Line: Sendable {
        let title: String
        let explanation: String
        let last: Moment?
        let next: Moment?
        /// In place of a moment.
        let pace: String
        let result: String
        let problem: String?
        let state: String
        /// The kind of mark.
        let kind: String
        let link: String?
        let linkLabel: String
    }

    let works: [Line]

    init(_ works: [ScheduledWork], mayPurge: Bool, mayBackUp: Bool, now: Int64) {
        self.works = works.map { work in
            let (title, explanation, pace) = Self.words(of: work.kind)
            let link: (path: String, label: String)? =
                switch work.kind {
                case .purge where mayPurge: (PurgePages.path, "Its runs, and run it now")
                case .backup where mayBackUp: (BackupPages.path, "The backups")
                case .jobs: (JobPages.path, "Your jobs")
                case .auditCopy: (AuditPages.path, "The log")
                default: nil
                }
            let (state, kind) = Self.state(of: work, now: now)
            return Line(
                title: title, explanation: explanation,
                last: Moment.of(work.finishedAt ?? work.startedAt, now: now), next: Moment.of(work.nextAt, now: now),
                pace: pace, result: work.result ?? "", problem: work.problem, state: state, kind: kind,
                link: link?.path, linkLabel: link?.label ?? "")
        }
    }

    /// A run that is so late, in microseconds, isn't just waiting for its turn.
    private static let patience: Int64 = 15 * 60 * 1_000_000

    private static func state(of work: ScheduledWork, now: Int64) -> (String, String) {
        if work.problem != nil { return ("failed", "no") }
        guard let startedAt = work.startedAt else {
            return work.kind == .jobs ? ("idle", "yes") : ("never ran", "own")
        }
        if work.finishedAt.map({ $0 < startedAt }) ?? true { return ("runs", "own") }
        if let next = work.nextAt, now - next > patience { return ("late", "no") }
        return ("done", "yes")
    }

    private static func words(of kind: ScheduledWork.Kind) -> (title: String, explanation: String, pace: String) {
        switch kind {
        case .purge:
            (
                "Purge of the trash", "One admin server permanently deletes what was in the trash long enough.",
                "every hour"
            )
        case .auditCopy:
            ("Audit log", "Admin servers copy changes into the audit log.", "all the time")
        case .auditExpiry:
            ("Audit log: old months", "Admin servers delete months that needn't be kept any longer.", "every hour")
        case .jobs:
            ("Jobs", "Admin servers process what people ask for that takes longer.", "all the time")
        case .jobExpiry: ("Jobs: old ones", "Admin servers delete jobs that ended long ago.", "every hour")
        case .changelogRetention:
            (
                "Changelog: old changes", "One gateway deletes changes that no device needs any more.",
                "every 10 minutes"
            )
        case .backup:
            (
                "Backups", "One admin server makes a backup of the database, and deletes old automatic ones.",
                "within a minute"
            )
        }
    }
}
