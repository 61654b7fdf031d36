public import PostgresClient

extension TestCluster {
    /// Makes a user with the rights of a role of servers, as an operator would, and says how to connect as it.
    /// - Parameters:
    ///   - role: `tombolo_gateway`; made if the cluster doesn't have it yet.
    ///   - database: of a superuser; the user is named after the database, so that it is the only one to use it.
    public static func member(
        of role: String, _ database: PostgresConfiguration
    ) async throws -> PostgresConfiguration {
        let name = "\(role)_of_\(database.database ?? "")"
        let connection = try await PostgresConnection.connect(database)
        do {
            // Other tests may be making the role.
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
