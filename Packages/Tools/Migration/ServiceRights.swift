import EventModels
import PostgresClient
import TomboloAuthentication
import TomboloModel
import TomboloPostgresStore

/// The rights of the role that other services connect as: rows of the class tables and what checking an access token
/// takes. The trash, the changelog and the credentials stay out of its reach, and so does what makes an account who it
/// is; row-level security keeps it from the roles of the platform.
enum ServiceRights {
    static let role = "tombolo_app"
    /// What the role may not update, by class: of an account the address that people log in with, and its key, which
    /// credentials refer to.
    static let fixedProperties: [String: Set<String>] = ["User": ["_id", "email", "isSuperAdmin"]]

    /// A step for the tables on which the role lacks a right or has one too many; no step if there is no such role.
    static func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        let exists = try await connection.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [.text(role)])
        guard !exists.isEmpty else { return [] }
        var lacking: [ClassSchema] = []
        for item in EventModels.schema.classes {
            let isRight = live.tables[item.table] == nil ? false : try await hasRights(item, live, connection)
            if !isRight { lacking.append(item) }
        }
        let canCheckTokens = try await canCheckTokens(live, connection)
        guard !lacking.isEmpty || !canCheckTokens else { return [] }
        let name = PostgresSQL.quoteIdentifier(role)
        var statements = lacking.flatMap { grants(on: $0) }
        if !canCheckTokens {
            statements.append("GRANT USAGE ON SCHEMA tombolo TO \(name)")
            let tables = AuthenticationSchema.tokenTables.joined(separator: ", ")
            statements.append("GRANT SELECT ON \(tables) TO \(name)")
        }
        return [SchemaStep(name: "rights of \(role)", sql: statements.joined(separator: ";\n"))]
    }

    private static func updatable(_ item: ClassSchema) -> [String] {
        let fixed = fixedProperties[item.name] ?? []
        return item.columns.filter { !fixed.contains($0.name) }.map(\.sqlName)
    }

    private static func grants(on item: ClassSchema) -> [String] {
        let name = PostgresSQL.quoteIdentifier(role)
        let table = PostgresSQL.quoteIdentifier("public", item.table)
        guard fixedProperties[item.name] != nil else {
            return ["GRANT SELECT, INSERT, UPDATE, DELETE ON \(table) TO \(name)"]
        }
        let columns = updatable(item).map { PostgresSQL.quoteIdentifier($0) }.joined(separator: ", ")
        return [
            "REVOKE UPDATE ON \(table) FROM \(name)",
            "GRANT SELECT, INSERT, DELETE, UPDATE (\(columns)) ON \(table) TO \(name)",
        ]
    }

    private static func hasRights(
        _ item: ClassSchema, _ live: PostgresCatalog, _ connection: PostgresConnection
    ) async throws -> Bool {
        let columns = updatable(item).filter { live.tables[item.table]?[$0] != nil }
        guard columns.count == updatable(item).count else { return false }
        let result = try await connection.query(
            """
            SELECT has_table_privilege($1, t.name, 'SELECT') AND has_table_privilege($1, t.name, 'INSERT')
                AND has_table_privilege($1, t.name, 'DELETE') AND has_table_privilege($1, t.name, 'UPDATE') = $4
                AND NOT EXISTS (SELECT 1 FROM unnest($3::text[]) AS c (name)
                    WHERE NOT has_column_privilege($1, t.name, c.name, 'UPDATE'))
            FROM (VALUES (format('public.%I', $2::text))) AS t (name)
            """,
            [
                .text(role), .text(item.table), .textArray(columns), .bool(fixedProperties[item.name] == nil),
            ])
        return try result[0, 0].bool
    }

    private static func canCheckTokens(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> Bool {
        guard live.systemRelations.isSuperset(of: AuthenticationSchema.tables) else { return false }
        let result = try await connection.query(
            """
            SELECT has_schema_privilege($1, 'tombolo', 'USAGE') AND bool_and(has_table_privilege($1, t.name, 'SELECT'))
            FROM unnest($2::text[]) AS t (name)
            """,
            [.text(role), .textArray(AuthenticationSchema.tokenTables)])
        return try result[0, 0].bool
    }
}
