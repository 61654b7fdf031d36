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
    public static func difference(from live: PostgresCatalog, to schema: Schema) -> SchemaDifference {
        var builder = SchemaStepBuilder(schema: schema, live: live)
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

/// Names of what the steps make; PostgreSQL cuts longer ones silently, so that two could become one.
enum SchemaName {
    static let maximumByteCount = 63

    static func foreignKey(_ table: String, _ column: String) -> String { fitted("\(table)_\(column)_fkey") }
    static func index(_ table: String, _ columns: [String]) -> String {
        fitted("\(table)_\(columns.joined(separator: "_"))_idx")
    }
    static func unique(_ table: String, _ columns: [String]) -> String {
        fitted("\(table)_\(columns.joined(separator: "_"))_key")
    }
    static func logFunction(_ classID: Int16) -> String { "log_\(classID)" }
    static func truncateFunction(_ classID: Int16) -> String { "log_truncate_\(classID)" }
    static let logTrigger = "tombolo_log"
    static let truncateTrigger = "tombolo_log_truncate"
    static let livePolicy = "tombolo_live"

    private static func fitted(_ name: String) -> String {
        guard name.utf8.count > maximumByteCount else { return name }
        let hash = String(name.stableHash, radix: 36)
        var kept = name
        while kept.utf8.count > maximumByteCount - hash.utf8.count - 1 { kept.removeLast() }
        return "\(kept)_\(hash)"
    }
}
