import AdminService
import TomboloModel

/// What the template `backups` shows.
struct BackupsContent: Sendable {
    /// Runs without a backup that are shown.
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
    /// What happens by itself, in words.
    let rhythm: String
    /// Of a backup that is under way, or waits to be.
    let progress: Progress?
    let isOpen: Bool
    let lines: [Line]
    let failures: [Failure]

    /// Of a server that makes none.
    init() {
        (isOn, folder, rhythm, progress, isOpen, lines, failures) = (false, "", "", nil, false, [], [])
    }

    init(_ overview: Backups.Overview, _ settings: BackupSettings, now: Int64) {
        isOn = true
        folder = settings.folder
        rhythm = Self.rhythm(settings)
        lines = overview.items.map { item in
            let run = item.run
            return Line(
                name: item.name.text, path: "\(BackupPages.path)/\(item.name.text)",
                made: Moment(item.name.time, now: now), size: ByteSize.text(item.byteCount),
                by: Self.by(run, isAutomatic: item.name.isAutomatic), took: Self.took(run),
                version: run?.serverVersion ?? "unknown")
        }
        progress = Self.progress(overview, now: now)
        isOpen = progress != nil
        failures = overview.others.filter { $0.problem != nil }.prefix(Self.failureLimit).map { run in
            Failure(
                name: run.name, began: Moment(run.startedAt, now: now), by: Self.by(run, isAutomatic: run.isAutomatic),
                problem: run.problem ?? "")
        }
    }

    private static func progress(_ overview: Backups.Overview, now: Int64) -> Progress? {
        if let run = overview.others.first(where: { $0.finishedAt == nil }) {
            let since = Moment(run.startedAt, now: now).exact
            return Progress(state: "running", text: "Since \(since), by \(by(run, isAutomatic: run.isAutomatic)).")
        }
        return overview.isWaiting ? Progress(state: "waiting", text: "It begins in a moment.") : nil
    }

    private static func rhythm(_ settings: BackupSettings) -> String {
        guard let interval = settings.interval else { return "No backups are made automatically." }
        let (hours, count) = (interval.components.seconds / 3_600, settings.keptCount)
        return "Automatically \(hours == 1 ? "every hour" : "every \(hours) hours"): the newest "
            + (count == 1 ? "one is kept." : "\(count) of those are kept.")
    }

    private static func by(_ run: BackupRun?, isAutomatic: Bool) -> String {
        isAutomatic ? "the schedule" : run?.userName ?? "unknown"
    }

    private static func took(_ run: BackupRun?) -> String {
        guard let run, let end = run.finishedAt else { return "unknown" }
        let seconds = (end - run.startedAt + 500_000) / 1_000_000
        return seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min \(seconds % 60) s"
    }
}
