import AdminService
import TomboloModel
import TomboloLocalization

/// The values for the template `backups`.
struct BackupsContent: Sendable {
    /// How many failed backups are shown, and how many restores.
    private static let failureLimit = 10

    struct Line: Sendable {
        let name: String
        let path: String
        let made: Moment
        let size: String
        let by: String
        let took: String
        let version: String
    }

    /// A database that was put aside by a restore.
    struct Kept: Sendable {
        let name: String
        let path: String
        let time: Moment
        let size: String
    }

    struct Restore: Sendable {
        let source: String
        let began: Moment
        let by: String
        let outcome: String
    }

    struct Failure: Sendable {
        let name: String
        let began: Moment
        let by: String
        let problem: String
    }

    struct Progress: Sendable {
        let state: String
        let text: String
    }

    let isOn: Bool
    let folder: String
    /// The automatic backups, in words.
    let schedule: String
    /// The backup or restore that is under way or waiting.
    let progress: Progress?
    let isOpen: Bool
    let lines: [Line]
    let failures: [Failure]
    let canRestore: Bool
    let restores: [Restore]
    let kept: [Kept]
    /// Why nothing can be restored.
    let restoreProblem: String?

    /// The content for a server that makes no backups.
    init() {
        (isOn, folder, schedule, progress, isOpen, lines, failures) = (false, "", "", nil, false, [], [])
        (canRestore, restores, kept, restoreProblem) = (false, [], [], nil)
    }

    /// - Parameter restoring: nil if this server can't restore.
    init(
        _ overview: Backups.Overview, _ restoring: Backups.RestoreOverview?, _ settings: BackupSettings, now: Int64
    ) {
        isOn = true
        folder = settings.folder
        schedule = Self.schedule(settings)
        lines = overview.items.map { item in
            let run = item.run
            return Line(
                name: item.name.text, path: "\(BackupPages.path)/\(item.name.text)",
                made: Moment(item.name.time, now: now), size: ByteSize.text(item.byteCount),
                by: Self.by(run, isAutomatic: item.name.isAutomatic), took: Self.took(run),
                version: run?.serverVersion ?? localized("unknown"))
        }
        progress = Self.progress(restoring) ?? Self.progress(overview, now: now)
        isOpen = progress != nil
        failures = overview.others.filter { $0.problem != nil }.prefix(Self.failureLimit).map { run in
            Failure(
                name: run.name, began: Moment(run.startedAt, now: now), by: Self.by(run, isAutomatic: run.isAutomatic),
                problem: run.problem ?? "")
        }
        canRestore = restoring != nil
        restores = (restoring?.runs ?? []).prefix(Self.failureLimit).map { run in
            Restore(
                source: run.source, began: Moment(run.startedAt, now: now), by: run.userName,
                outcome: run.problem
                    ?? run.kept.map { localized("Done. The previous database is now called \($0).") }
                    ?? localized("Done."))
        }
        kept = (restoring?.kept ?? []).map { item in
            Kept(
                name: item.name, path: RestorePages.path(of: item), time: Moment(item.time, now: now),
                size: item.byteCount.map(ByteSize.text) ?? localized("unknown"))
        }
        restoreProblem = restoring?.problem
    }

    private static func progress(_ restoring: Backups.RestoreOverview?) -> Progress? {
        guard let current = restoring?.current else { return nil }
        let source = current.source
        let text =
            switch current.step {
            case nil: localized("\(source) is being restored.")
            case .checking: localized("\(source) is being restored: checking privileges.")
            case .making: localized("\(source) is being restored: making a new database.")
            case .restoring:
                localized("\(source) is being restored: filling the new database. The server stays available.")
            case .preparing: localized("\(source) is being restored: preparing the new database.")
            case .swapping: localized("\(source) is being restored: swapping the databases.")
            }
        return Progress(state: localized("restoring"), text: text)
    }

    private static func progress(_ overview: Backups.Overview, now: Int64) -> Progress? {
        if let run = overview.others.first(where: { $0.finishedAt == nil }) {
            let since = Moment(run.startedAt, now: now).exact
            let text =
                run.isAutomatic
                ? localized("Since \(since), by the schedule.")
                : localized("Since \(since), by \(by(run, isAutomatic: false)).")
            return Progress(state: localized("running"), text: text)
        }
        return overview.isWaiting
            ? Progress(state: localized("waiting"), text: localized("It begins in a moment.")) : nil
    }

    private static func schedule(_ settings: BackupSettings) -> String {
        guard let interval = settings.interval else { return localized("No backups are made automatically.") }
        let (hours, count) = (Int(interval.components.seconds / 3_600), settings.keptCount)
        let pace =
            hours == 1
            ? localized("every hour") : localized(hours, one: "every \(hours) hour", other: "every \(hours) hours")
        if count == 1 { return localized("Automatically \(pace): the newest one is kept.") }
        return localized(
            count, one: "Automatically \(pace): the newest \(count) is kept.",
            other: "Automatically \(pace): the newest \(count) are kept.")
    }

    private static func by(_ run: BackupRun?, isAutomatic: Bool) -> String {
        isAutomatic ? localized("the schedule") : run?.userName ?? localized("unknown")
    }

    private static func took(_ run: BackupRun?) -> String {
        guard let run, let end = run.finishedAt else { return localized("unknown") }
        let seconds = (end - run.startedAt + 500_000) / 1_000_000
        return seconds < 120 ? localized("\(seconds) s") : localized("\(seconds / 60) min \(seconds % 60) s")
    }
}
