public import Foundation
public import PostgresClient
public import TomboloHTTP

/// How an admin server restores backups, read from an environment variable.
public struct RestoreSettings: Sendable {
    /// A user who may create and rename databases, connected to any database except the one to restore.
    public var database: PostgresConfiguration
    /// The path of pg_restore, or nil to search the `PATH` each time.
    public var program: String?
    /// Brings a restored database up to the version that the servers need, as the owner of its tables.
    public var prepare: @Sendable (PostgresConnection) async throws -> Void

    public static let databaseVariable = "TOMBOLO_RESTORE_URL"

    public init(
        database: PostgresConfiguration, program: String? = nil,
        prepare: @escaping @Sendable (PostgresConnection) async throws -> Void
    ) {
        self.database = database
        self.program = program
        self.prepare = prepare
    }

    /// - Returns: nil if no variable names a user. The panel then restores nothing.
    /// - Throws: `ConfigurationError`, which doesn't quote the connection string.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment,
        prepare: @escaping @Sendable (PostgresConnection) async throws -> Void
    ) throws(ConfigurationError) -> RestoreSettings? {
        guard let url = environment[databaseVariable], !url.isEmpty else { return nil }
        var problems: [String] = []
        let database = try? PostgresConfiguration(url)
        if database == nil {
            problems.append(
                "\(databaseVariable) is not a PostgreSQL address: write postgresql://USER:PASSWORD@HOST:PORT/postgres.")
        }
        if database?.keywords["sslpassword"] != nil {
            problems.append(
                "\(databaseVariable) has sslpassword, which everybody on this machine could see: use a key without a "
                    + "passphrase.")
        }
        if environment[BackupSettings.folderVariable]?.isEmpty ?? true {
            problems.append(
                "\(databaseVariable) needs \(BackupSettings.folderVariable), the folder of the backups: see docs/backups.md."
            )
        }
        if PostgresProgram.find("pg_restore", environment["PATH"]) == nil {
            problems.append("\(BackupFailure.noRestoreProgram)")
        }
        guard problems.isEmpty, let database else { throw ConfigurationError(problems: problems) }
        return RestoreSettings(database: database, prepare: prepare)
    }
}
