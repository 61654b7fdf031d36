import Foundation
public import Logging
public import PostgresClient
import Synchronization
import TomboloHTTP
import TomboloModel

/// The backups of the database, in a folder of the admin server: makes them by pg_dump, lists, hands out and deletes them, and
/// restores them.
///
/// Of any number of processes one makes or restores a backup at a time, elected by a lock of the database. A backup is whole
/// when its file has its name: a process that is killed leaves a partial file, which the next look removes, and a run that it
/// marks as interrupted. People ask by ``ask(by:now:)`` and ``ask(toRestore:by:)``, and ``BackupService`` does the work.
public final class Backups: Sendable {
    /// Backups in the folder before no more are made by hand: these are never deleted but by hand.
    static let maximumCount = 1_000
    /// Downloads at a time: each has a thread while it reads.
    static let maximumDownloads = 2
    /// How often the service looks whether an automatic backup is due, or something ended midway.
    static let lookInterval = Duration.seconds(60)
    /// When an automatic backup that failed is tried again, if the next isn't due before.
    static let retryInterval = Duration.seconds(3_600)

    /// What somebody asked for.
    struct Wish: Sendable {
        let work: Work
        let user: ObjectId
        /// Whether the audit log has it, so that it may begin.
        var isNoted = false
    }

    enum Work: Sendable {
        case making(BackupName)
        case restoring(RestoreSource)
    }

    /// What no database has; one lock guards all of it.
    struct State: Sendable {
        /// Until it's done, or failed.
        var wish: Wish?
        /// Of the restore under way.
        var step: RestoreStep?
        /// When to look again, in microseconds since 1970.
        var nextLook: Int64 = 0
        var downloadCount = 0
    }

    /// As they are now.
    package var settings: BackupSettings {
        var settings = started
        if let now = schedule?() { (settings.interval, settings.keptCount) = (now.interval, now.keptCount) }
        return settings
    }
    private let started: BackupSettings
    private let schedule: (@Sendable () -> BackupSchedule)?
    let pool: PostgresPool
    let logger: Logger
    let folder: BackupFolder
    let history: BackupHistory
    let restores: RestoreHistory
    /// Nil where nothing is restored.
    let restoring: RestoreSettings?
    /// For listing and removing: what takes long has a queue of its own.
    let disk = DiskQueue()
    let state = Mutex(State())

    /// - Parameters:
    ///   - schedule: counts in place of what the settings say of it, and may change; nil for the settings.
    ///   - restoring: nil where nothing is restored.
    public init(
        _ settings: BackupSettings, schedule: (@Sendable () -> BackupSchedule)? = nil,
        restoring: RestoreSettings? = nil, pool: PostgresPool, logger: Logger
    ) {
        started = settings
        self.schedule = schedule
        self.pool = pool
        self.logger = logger
        folder = BackupFolder(path: settings.folder)
        history = BackupHistory(pool: pool)
        restores = RestoreHistory(pool: pool)
        self.restoring = restoring
    }

    /// As the process's environment says; nil if it says nothing of backups.
    /// - Throws: ``ConfigurationError``.
    public static func ofEnvironment(pool: PostgresPool, logger: Logger) throws -> Backups? {
        try BackupSettings.ofEnvironment().map { Backups($0, pool: pool, logger: logger) }
    }
}
