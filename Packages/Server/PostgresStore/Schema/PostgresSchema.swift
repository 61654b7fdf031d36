public import PostgresClient
public import TomboloModel

/// The PostgreSQL side of a ``Schema``: typed tables in `public`, everything that belongs to syncing in `tombolo`.
///
/// Who runs the steps owns the tables; that role and its members (the gateway, the admin server) see the trash.
/// Services get rights on tables of `public` only: their writes are logged all the same.
public enum PostgresSchema {
    /// Everything that an empty database needs.
    public static func statements(for schema: Schema) -> [SchemaStep] {
        difference(from: .empty, to: schema).steps
    }

    /// What a database needs besides what it has.
    /// - Parameter writersMayWait: whether indexes on existing tables are built in a transaction with the other steps,
    ///   while writers of the table wait: for development, where tables are small.
    public static func difference(
        from live: PostgresCatalog, to schema: Schema, writersMayWait: Bool = false
    ) -> SchemaDifference {
        var builder = SchemaStepBuilder(schema: schema, live: live, writersMayWait: writersMayWait)
        builder.build()
        return SchemaDifference(steps: builder.steps, problems: builder.problems)
    }

    /// Brings a database up to a schema, each step in a transaction of its own. For tests and development; the
    /// migration tool keeps a record besides.
    /// - Throws: ``PostgresStoreError`` for differences that are not additive, before the first step.
    public static func install(_ schema: Schema, on connection: PostgresConnection) async throws {
        let live = try await PostgresCatalog.read(connection)
        let difference = difference(from: live, to: schema)
        guard difference.problems.isEmpty else {
            throw PostgresStoreError(.schema, difference.problems.joined(separator: "\n"))
        }
        for step in difference.steps { try await connection.execute(step.sql) }
    }
}
