import PostgresClient
import TomboloAuthentication
import TomboloModel
import TomboloPostgresStore

/// The rights of the role that other services connect as: rows of the class tables and what checking an access token
/// takes. The trash, the changelog and the credentials stay out of its reach.
///
/// Where the role may update only some columns of a table and nothing here says which, somebody limited it: that stays
/// as it is, so that a run without the app's extension doesn't widen what a run with it narrowed.
struct ServiceRights {
    static let role = "tombolo_app"

    let schema: Schema
    /// What the role may not update, by class.
    let fixedProperties: [String: Set<String>]

    /// A step for the tables on which the role lacks a right or has one too many; no step if there is no such role.
    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        let exists = try await connection.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [.text(Self.role)])
        guard !exists.isEmpty else { return [] }
        var statements: [String] = []
        for item in schema.classes { statements += try await grants(on: item, live, connection) }
        let canCheckTokens = try await canCheckTokens(live, connection)
        guard !statements.isEmpty || !canCheckTokens else { return [] }
        let name = PostgresSQL.quoteIdentifier(Self.role)
        if !canCheckTokens {
            statements.append("GRANT USAGE ON SCHEMA tombolo TO \(name)")
            let tables = AuthenticationSchema.tokenTables.joined(separator: ", ")
            statements.append("GRANT SELECT ON \(tables) TO \(name)")
        }
        return [SchemaStep(name: "rights of \(Self.role)", sql: statements.joined(separator: ";\n"))]
    }

    /// What gives the role its rights on a class's table, or nothing if it has exactly these.
    private func grants(
        on item: ClassSchema, _ live: PostgresCatalog, _ connection: PostgresConnection
    ) async throws -> [String] {
        let name = PostgresSQL.quoteIdentifier(Self.role)
        let table = PostgresSQL.quoteIdentifier("public", item.table)
        let fixed = fixedProperties[item.name]
        let columns = item.columns.filter { fixed?.contains($0.name) == false }.map(\.sqlName)
        let present = columns.filter { live.tables[item.table]?[$0] != nil }
        var (hasRest, updatesTable, updatesSome, updatesAll) = (false, false, false, false)
        if live.tables[item.table] != nil {
            let rights = try await connection.query(
                """
                SELECT has_table_privilege($1, t.name, 'SELECT') AND has_table_privilege($1, t.name, 'INSERT')
                    AND has_table_privilege($1, t.name, 'DELETE'), has_table_privilege($1, t.name, 'UPDATE'),
                    has_any_column_privilege($1, t.name, 'UPDATE'),
                    NOT EXISTS (SELECT 1 FROM unnest($3::text[]) AS c (name)
                        WHERE NOT has_column_privilege($1, t.name, c.name, 'UPDATE'))
                FROM (VALUES (format('public.%I', $2::text))) AS t (name)
                """, [.text(Self.role), .text(item.table), .textArray(present)])
            (hasRest, updatesTable) = (try rights[0, 0].bool, try rights[0, 1].bool)
            (updatesSome, updatesAll) = (try rights[0, 2].bool, try rights[0, 3].bool)
        }
        guard fixed != nil else {
            if hasRest, updatesSome { return [] }
            let update = updatesSome && !updatesTable ? "" : ", UPDATE"
            return ["GRANT SELECT, INSERT, DELETE\(update) ON \(table) TO \(name)"]
        }
        if hasRest, !updatesTable, updatesAll, present == columns { return [] }
        let list = columns.map { PostgresSQL.quoteIdentifier($0) }.joined(separator: ", ")
        return [
            "REVOKE UPDATE ON \(table) FROM \(name)",
            "GRANT SELECT, INSERT, DELETE, UPDATE (\(list)) ON \(table) TO \(name)",
        ]
    }

    private func canCheckTokens(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> Bool {
        guard live.systemRelations.isSuperset(of: AuthenticationSchema.tables) else { return false }
        let result = try await connection.query(
            """
            SELECT has_schema_privilege($1, 'tombolo', 'USAGE') AND bool_and(has_table_privilege($1, t.name, 'SELECT'))
            FROM unnest($2::text[]) AS t (name)
            """,
            [.text(Self.role), .textArray(AuthenticationSchema.tokenTables)])
        return try result[0, 0].bool
    }
}
