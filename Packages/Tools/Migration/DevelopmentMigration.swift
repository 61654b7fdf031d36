public import PostgresClient
public import TomboloModel

/// What development mode does to a database: it makes Tombolo's tables, and adds what devices bring.
public enum DevelopmentMigration {
    /// How often an addition is tried while other migrations are under way, and the time between.
    public static let attempts = (limit: 100, interval: Duration.milliseconds(100))

    /// Makes the tables that a server needs, if the database has none.
    /// - Parameter configuration: connects as the role that owns the tables, or will.
    public static func prepare(_ configuration: PostgresConfiguration) async throws {
        try await migrate([], configuration)
    }

    /// Adds the classes and properties of a document to those of its app; nothing is changed or retired.
    /// - Throws: what ``Migrator/toDocuments(_:on:isDevelopment:extensions:rolePrefix:)`` and ``Migrator/apply(progress:)`` throw.
    public static func add(_ document: ModelDocument, _ configuration: PostgresConfiguration) async throws {
        try await migrate([AppDocuments(models: document)], configuration)
    }

    private static func migrate(_ apps: [AppDocuments], _ configuration: PostgresConfiguration) async throws {
        let connection = try await PostgresConnection.connect(configuration)
        do {
            try await migrate(apps, connection)
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    /// Waits for migrations that are under way: two devices may bring the same class at once.
    private static func migrate(_ apps: [AppDocuments], _ connection: PostgresConnection) async throws {
        var attempt = 1
        while true {
            do {
                try await Migrator.toDocuments(apps, on: connection, isDevelopment: true).apply()
                return
            } catch let error as MigrationError {
                guard error.isPassing, attempt < attempts.limit else { throw error }
            }
            attempt += 1
            try await Task.sleep(for: attempts.interval)
        }
    }
}

extension MigrationError {
    /// Whether another run stood in the way, so that trying again helps.
    fileprivate var isPassing: Bool {
        switch self {
        case .alreadyRunning, .documentChanged: true
        default: false
        }
    }
}
