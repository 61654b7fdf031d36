public import Logging
public import PostgresClient

extension ServerConfiguration {
    /// The database, as the server should connect to it. Where it is behind a pooler in transaction mode, statements aren't
    /// kept prepared: PgBouncer before 1.21 loses them.
    /// - Parameters:
    ///   - connections: how many the server opens at most, for the log.
    ///   - needs: what doesn't work in transaction mode, and what to do about it, in a sentence each; empty if all does.
    /// - Throws: ``ConfigurationError`` naming the needs, if there are some and the mode is that one, or the database that isn't
    ///   there; other errors of the database's.
    public func findDatabase(
        connections: Int, needing needs: [String], logger: Logger
    ) async throws -> PostgresConfiguration {
        // A pool waits for a database that is about to start.
        let pool = PostgresPool(configuration: database, options: .init(maximumConnections: 1), logger: logger)
        let pooling: PostgresPooling
        do {
            pooling = try await pool.withConnection { try await $0.pooling() }
        } catch {
            await pool.shutdown()
            guard let error = error as? PostgresError, error.code == .invalidCatalogName, let name = database.database
            else { throw error }
            throw ConfigurationError(problems: [
                "There is no database '\(name)'. Create it with 'createdb \(name)', or correct the name in "
                    + "\(Self.databaseVariable)."
            ])
        }
        await pool.shutdown()
        switch pooling {
        case .none: return database
        case .session:
            logger.notice(
                """
                The database is behind a connection pooler in session mode. It needs a connection to PostgreSQL for each \
                of this server's, which are \(connections) at most.
                """)
            return database
        case .transaction:
            guard needs.isEmpty else {
                throw ConfigurationError(
                    problems: needs.map {
                        "\(Self.databaseVariable) leads to a connection pooler in transaction mode. \($0)"
                    })
            }
            logger.notice(
                "The database is behind a connection pooler in transaction mode. Statements aren't kept prepared.")
            var database = database
            database.preparedStatementLimit = 0
            return database
        }
    }

    /// What a server that follows the models by LISTEN says to ``findDatabase(connections:needing:logger:)``.
    public static let listeningNeed =
        "The server hears by LISTEN that models and rules have changed, which needs a session of its own. Connect it to "
        + "PostgreSQL directly, or through pool_mode = session."
}
