public import PostgresClient

extension TestCluster {
    /// Creates a user with the rights of a server's database role, as an operator would, and returns how to connect as that user.
    /// - Parameters:
    ///   - role: such as `tombolo_gateway`; created if the cluster doesn't have it yet.
    ///   - database: a superuser's connection to the database. The user is named after the database, so nothing else uses it.
    public static func member(
        of role: String, _ database: PostgresConfiguration
    ) async throws -> PostgresConfiguration {
        let name = "\(role)_of_\(database.database ?? "")"
        let connection = try await PostgresConnection.connect(database)
        do {
            // Other tests may be creating the role at the same time.
            try await connection.execute(
                """
                DO $$ BEGIN
                    CREATE ROLE \(PostgresSQL.quoteIdentifier(role)) NOLOGIN;
                EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
                END $$;
                CREATE ROLE \(PostgresSQL.quoteIdentifier(name)) LOGIN IN ROLE \(PostgresSQL.quoteIdentifier(role))
                """)
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
        var configuration = database
        configuration.user = name
        return configuration
    }
}
