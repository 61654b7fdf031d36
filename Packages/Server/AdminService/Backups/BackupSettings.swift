public import Foundation
public import PostgresClient
public import TomboloHTTP

/// How an admin server makes backups, read from environment variables.
public struct BackupSettings: Sendable {
    /// The folder of the backups, without a trailing slash.
    public var folder: String
    /// A user who may read the whole database.
    public var database: PostgresConfiguration
    /// From the start of one automatic backup to the start of the next; nil for none.
    public var interval: Duration?
    /// How many automatic backups are kept.
    public var keptCount: Int
    /// The path of pg_dump, or nil to search the `PATH` at each backup.
    public var program: String?

    public static let folderVariable = "TOMBOLO_BACKUPS"
    public static let databaseVariable = "TOMBOLO_BACKUP_URL"
    public static let intervalVariable = "TOMBOLO_BACKUP_EVERY"
    public static let keptVariable = "TOMBOLO_BACKUP_KEEP"
    public static let defaultHours = 24
    public static let defaultKeptCount = 7

    public init(
        folder: String, database: PostgresConfiguration, interval: Duration? = .seconds(defaultHours * 3_600),
        keptCount: Int = defaultKeptCount, program: String? = nil
    ) {
        self.folder = folder
        self.database = database
        self.interval = interval
        self.keptCount = keptCount
        self.program = program
    }

    /// - Returns: nil if no variable asks for backups.
    /// - Throws: ``ConfigurationError`` with every problem at once, including the folder's. It quotes no secret.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> BackupSettings? {
        func text(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        var problems: [String] = []
        var schedule = BackupSchedule()
        do throws(ConfigurationError) {
            if let value = text(intervalVariable) { schedule.interval = try BackupSchedule.interval(value) }
        } catch {
            problems += error.problems
        }
        do throws(ConfigurationError) {
            if let value = text(keptVariable) { schedule.keptCount = try BackupSchedule.keptCount(value) }
        } catch {
            problems += error.problems
        }
        let (path, url) = (text(folderVariable), text(databaseVariable))
        guard path != nil || url != nil else { return nil }
        if path == nil {
            problems.append(
                "\(folderVariable) is not set: name the folder for backups, or unset \(databaseVariable).")
        }
        if url == nil {
            problems.append(
                "\(databaseVariable) is not set: backups need a database user who may read everything. See "
                    + "docs/backups.md.")
        }
        let folder = path.map { $0.count > 1 && $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? ""
        if path != nil, let problem = BackupFolder(path: folder).problem {
            problems.append("\(folderVariable): \(problem)")
        }
        let database = url.flatMap { try? PostgresConfiguration($0) }
        if url != nil, database == nil {
            problems.append(
                "\(databaseVariable) is not a PostgreSQL address: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE.")
        }
        if database?.keywords["sslpassword"] != nil {
            problems.append(
                "\(databaseVariable) has sslpassword, which everybody on this machine could see: use a key without a "
                    + "passphrase.")
        }
        if url != nil, DumpProgram.find(environment["PATH"]) == nil { problems.append("\(BackupFailure.noProgram)") }
        guard problems.isEmpty, let database else { throw ConfigurationError(problems: problems) }
        return BackupSettings(
            folder: folder, database: database, interval: schedule.interval, keptCount: schedule.keptCount)
    }
}
