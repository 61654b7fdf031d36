import Foundation
public import Logging
public import PostgresClient
import Synchronization
import TomboloHTTP
import TomboloModel

/// The backups of the database, in a folder of the admin server: makes them with pg_dump, and lists, serves, deletes
/// and restores them.
///
/// Any number of processes may run; one at a time makes or restores a backup, elected by a lock in the database. A
/// backup is complete when its file has its final name. A process that is killed leaves a partial file, which the
/// next check removes, and a run, which it marks as interrupted. People ask with ``ask(by:now:)`` and
/// ``ask(toRestore:by:)``, and ``BackupService`` does the work.
public final class Backups: Sendable {
    /// The number of backups in the folder at which no more can be made by hand. Those made by hand are never deleted
    /// automatically.
    static let maximumCount = 1_000
    /// Concurrent downloads. Each occupies a thread while it reads.
    static let maximumDownloads = 2
    /// How often the service checks whether an automatic backup is due or a run was interrupted.
    static let lookInterval = Duration.seconds(60)
    /// When a failed automatic backup is retried, unless the next is due earlier.
    static let retryInterval = Duration.seconds(3_600)

    /// What somebody asked for.
    struct Wish: Sendable {
        let work: Work
        let user: ObjectId
        /// Whether the audit entry is written, so that the work may begin.
        var isNoted = false
    }

    enum Work: Sendable {
        case making(BackupName)
        case restoring(RestoreSource)
    }

    /// State that isn't in the database. One lock guards all of it.
    struct State: Sendable {
        /// Set until the work is done or has failed.
        var wish: Wish?
        /// The step of the restore in progress.
        var step: RestoreStep?
        /// When to check again, in microseconds since 1970.
        var nextLook: Int64 = 0
        var downloadCount = 0
    }

    /// The current settings.
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
    /// Nil if this server restores nothing.
    let restoring: RestoreSettings?
    /// For listing and removing. Long operations have their own queue.
    let disk = DiskQueue()
    let state = Mutex(State())

    /// - Parameters:
    ///   - schedule: overrides the schedule in the settings, and may change; nil to use the settings.
    ///   - restoring: nil if this server restores nothing.
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

    /// Configured by the process's environment; nil if that doesn't ask for backups.
    /// - Throws: ``ConfigurationError``.
    public static func ofEnvironment(pool: PostgresPool, logger: Logger) throws -> Backups? {
        try BackupSettings.ofEnvironment().map { Backups($0, pool: pool, logger: logger) }
    }
}
