public import PostgresClient
public import TomboloModel

/// The PostgreSQL side of a ``Schema``: typed tables in `public`, and everything for synchronisation in `tombolo`.
///
/// The role that runs the steps owns the tables. That role and its members (the gateway, the admin server) see the
/// trash. Services get rights only on tables in `public`; their writes are logged all the same.
public enum PostgresSchema {
    /// Everything that an empty database needs.
    public static func statements(for schema: Schema) -> [SchemaStep] {
        difference(from: .empty, to: schema).steps
    }

    /// The steps from what a database has to what it needs.
    /// - Parameter writersMayWait: whether indexes on existing tables are built in a transaction with the other
    ///   steps, which blocks the table's writers. For development, where tables are small.
    public static func difference(
        from live: PostgresCatalog, to schema: Schema, writersMayWait: Bool = false
    ) -> SchemaDifference {
        var builder = SchemaStepBuilder(schema: schema, live: live, writersMayWait: writersMayWait)
        builder.build()
        return SchemaDifference(steps: builder.steps, problems: builder.problems)
    }

    /// Brings a database up to a schema, each step in its own transaction. For tests and development; the migration
    /// tool also keeps a record.
    /// - Throws: ``PostgresStoreError`` before the first step if a difference isn't additive.
    public static func install(_ schema: Schema, on connection: PostgresConnection) async throws {
        let live = try await PostgresCatalog.read(connection)
        let difference = difference(from: live, to: schema)
        guard difference.problems.isEmpty else {
            throw PostgresStoreError(.schema, difference.problems.joined(separator: "\n"))
        }
        for step in difference.steps { try await connection.execute(step.sql) }
    }
}
