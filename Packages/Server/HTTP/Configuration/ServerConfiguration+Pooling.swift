public import Logging
public import PostgresClient

extension ServerConfiguration {
    /// The database configuration that the server should connect with. Behind a pooler in transaction mode, statements
    /// aren't kept prepared: PgBouncer before 1.21 loses them.
    /// - Parameters:
    ///   - connections: how many the server opens at most, for the log.
    ///   - needs: what doesn't work in transaction mode and what to do about it, one sentence each; empty if everything
    ///     works.
    /// - Throws: ``ConfigurationError`` that lists the needs if there are any and the pooler is in transaction mode, or
    ///   that names the missing database; other database errors.
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
                The database is behind a connection pooler in session mode. It needs one PostgreSQL connection for \
                each of this server's, up to \(connections).
                """)
            return database
        case .transaction:
            guard needs.isEmpty else {
                throw ConfigurationError(
                    problems: needs.map {
                        "\(Self.databaseVariable) points to a connection pooler in transaction mode. \($0)"
                    })
            }
            logger.notice(
                "The database is behind a connection pooler in transaction mode, so prepared statements aren't kept.")
            var database = database
            database.preparedStatementLimit = 0
            return database
        }
    }

    /// The need that servers pass to ``findDatabase(connections:needing:logger:)`` if they follow the models by LISTEN.
    public static let listeningNeed =
        "The server learns of changed models and rules through LISTEN, which needs a session of its own. Connect it to "
        + "PostgreSQL directly, or through pool_mode = session."
}
