import AdminService
import TomboloLocalization

/// The values for the template `schedule`.
struct ScheduleContent: Sendable {
    struct Line: Sendable {
        let title: String
        let explanation: String
        let last: Moment?
        let next: Moment?
        /// Shown instead of a moment.
        let pace: String
        let result: String
        let problem: String?
        let state: String
        /// The style of the mark.
        let kind: String
        let link: String?
        let linkLabel: String
        /// The action that runs it now.
        let run: String?
    }

    let works: [Line]
    /// Whether a job is waiting to begin or is running.
    let isOpen: Bool

    /// - Parameter mayRun: whether the viewer may have jobs run.
    init(_ works: [ScheduledWork], mayPurge: Bool, mayBackUp: Bool, mayRun: Bool, now: Int64) {
        isOpen = works.contains { Self.isOpen($0, now: now) }
        self.works = works.map { work in
            let (title, explanation, pace) = Self.words(of: work.kind)
            let link: (path: String, label: String)? =
                switch work.kind {
                case .purge where mayPurge: (PurgePages.path, localized("View its runs, or run it now"))
                case .backup where mayBackUp: (BackupPages.path, localized("The backups"))
                case .jobs: (JobPages.path, localized("Your jobs"))
                case .auditCopy: (AuditPages.path, localized("The log"))
                default: nil
                }
            let (state, kind) = Self.state(of: work, now: now)
            return Line(
                title: title, explanation: explanation,
                last: Moment.of(work.finishedAt ?? work.startedAt, now: now), next: Moment.of(work.nextAt, now: now),
                pace: pace, result: work.result ?? "", problem: work.problem, state: state, kind: kind,
                link: link?.path, linkLabel: link?.label ?? "",
                run: mayRun && work.canBeAskedFor ? SchedulePages.path(running: work.kind) : nil)
        }
    }

    private static func isOpen(_ work: ScheduledWork, now: Int64) -> Bool {
        guard work.canBeAskedFor, !work.isLate(now) else { return false }
        let isUnderWay =
            work.isRunning
            && work.startedAt.map { $0 > now - Schedule.longestRun.components.seconds * 1_000_000 } ?? false
        return work.isWaiting(now) || isUnderWay
    }

    private static func state(of work: ScheduledWork, now: Int64) -> (String, String) {
        if work.isLate(now) { return (localized("late"), "no") }
        if work.isWaiting(now) { return (localized("waiting"), "own") }
        if work.isRunning { return (localized("runs", context: "job"), "own") }
        if work.problem != nil { return (localized("failed"), "no") }
        guard work.startedAt != nil else {
            return work.kind == .jobs ? (localized("idle"), "yes") : (localized("never ran"), "own")
        }
        return (localized("done"), "yes")
    }

    private static func words(of kind: ScheduledWork.Kind) -> (title: String, explanation: String, pace: String) {
        switch kind {
        case .purge:
            (
                localized("Purge of the trash"),
                localized("One admin server permanently deletes what has been in the trash long enough."),
                localized("every hour")
            )
        case .auditCopy:
            (
                localized("Audit log"), localized("Admin servers copy changes into the audit log."),
                localized("continuously")
            )
        case .auditExpiry:
            (
                localized("Audit log: old months"),
                localized("Admin servers delete months that no longer need to be kept."), localized("every hour")
            )
        case .jobs:
            (
                localized("Jobs"), localized("Admin servers process long-running requests."),
                localized("continuously")
            )
        case .jobExpiry:
            (
                localized("Jobs: old ones"), localized("Admin servers delete jobs that ended long ago."),
                localized("every hour")
            )
        case .requestExpiry:
            (
                localized("Requests: old ones"),
                localized("One admin server deletes requests from the log that no longer need to be kept."),
                localized("every 10 minutes")
            )
        case .changelogRetention:
            (
                localized("Changelog: old changes"),
                localized("One gateway deletes changes that no device needs any more."),
                localized("every 10 minutes")
            )
        case .backup:
            (
                localized("Backups"),
                localized("One admin server makes a backup of the database, and deletes old automatic ones."),
                localized("within a minute")
            )
        }
    }
}
