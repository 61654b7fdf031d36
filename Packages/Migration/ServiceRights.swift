import EventModels
import PostgresClient
import TomboloModel
import TomboloPostgresStore

/// The rights of the role that other services connect as: rows of the class tables and nothing else. The trash, the
/// changelog and the credentials stay out of its reach.
enum ServiceRights {
    static let role = "tombolo_app"

    /// A step for the tables on which the role lacks a right; none where there is no such role.
    static func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        let tables = EventModels.schema.classes.map(\.table)
        let present = tables.filter { live.tables[$0] != nil }
        let result = try await connection.query(
            """
            SELECT t.name FROM pg_roles r, unnest($2::text[]) AS t (name)
            WHERE r.rolname = $1 AND NOT (has_table_privilege(r.oid, format('public.%I', t.name), 'SELECT')
                AND has_table_privilege(r.oid, format('public.%I', t.name), 'INSERT')
                AND has_table_privilege(r.oid, format('public.%I', t.name), 'UPDATE')
                AND has_table_privilege(r.oid, format('public.%I', t.name), 'DELETE'))
            UNION ALL SELECT NULL FROM pg_roles r WHERE r.rolname = $1
            """, [.text(role), .textArray(present)])
        guard !result.isEmpty else { return [] }
        var lacking = Set(try result.compactMap { try $0[0].nonNull?.string })
        lacking.formUnion(tables.filter { live.tables[$0] == nil })
        guard !lacking.isEmpty else { return [] }
        let names = lacking.sorted().map { PostgresSQL.quoteIdentifier("public", $0) }.joined(separator: ", ")
        let sql = "GRANT SELECT, INSERT, UPDATE, DELETE ON \(names) TO \(PostgresSQL.quoteIdentifier(role))"
        return [SchemaStep(name: "rights of \(role)", sql: sql)]
    }
}
