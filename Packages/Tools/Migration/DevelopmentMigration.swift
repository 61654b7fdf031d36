public import PostgresClient
public import TomboloModel

/// What development mode does to a database: it creates Tombolo's tables, and adds the classes that devices bring.
public enum DevelopmentMigration {
    /// How often to attempt an addition while other migrations are running, and the time in between.
    public static let attempts = (limit: 100, interval: Duration.milliseconds(100))

    /// Creates the tables that a server needs, if the database has none.
    /// - Parameter configuration: connects as the role that owns the tables, or will own them.
    public static func prepare(_ configuration: PostgresConfiguration) async throws {
        try await migrate([], configuration)
    }

    /// Adds a document's classes and properties to those of its app. Nothing is changed or retired.
    /// - Throws: what ``Migrator/toDocuments(_:on:isDevelopment:extensions:rolePrefix:)`` and
    ///   ``Migrator/apply(progress:)`` throw.
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

    /// Waits for running migrations, because two devices may bring the same class at once.
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
    /// Whether another run was in the way, so that a retry helps.
    fileprivate var isPassing: Bool {
        switch self {
        case .alreadyRunning, .documentChanged: true
        default: false
        }
    }
}
