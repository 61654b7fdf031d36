import PostgresClient
import TomboloMigration
import TomboloModel

/// Tries every possible access as a role, and reports which ones are permitted. All changes are rolled back.
struct RightsTrial {
    /// A connection of a user whose only rights are the role's.
    let connection: PostgresConnection
    /// The owner's connection, for reading the catalog.
    let owner: PostgresConnection

    struct Relation {
        let schema: String
        let name: String
        let kind: String
        let columns: [String]
        var sql: String { PostgresSQL.quoteIdentifier(schema, name) }
    }

    /// Every relation in `public` and `tombolo` that rights can be granted on, including partitions.
    func relations() async throws -> [Relation] {
        try await owner.query(
            """
            SELECT n.nspname::text, c.relname::text, c.relkind::text, (
                SELECT string_agg(a.attname::text, E'\n' ORDER BY a.attnum) FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname IN ('public', 'tombolo') AND c.relkind IN ('r', 'p', 'v', 'S') ORDER BY 1, 2
            """
        ).map { row in
            Relation(
                schema: try row[0].string, name: try row[1].string, kind: try row[2].string,
                columns: try row[3].string.split(separator: "\n").map(String.init))
        }
    }

    /// Whether PostgreSQL lets the role run a statement. Failures for any other reason count as permitted.
    func permits(_ sql: String) async throws -> Bool {
        try await connection.execute("BEGIN")
        var permitted = true
        do {
            try await connection.execute(sql)
        } catch let error as PostgresError {
            permitted = error.code != .insufficientPrivilege
        }
        try await connection.execute("ROLLBACK")
        return permitted
    }

    /// The role's rights on a relation, such as `SELECT`, or `UPDATE (column)` if it doesn't have them on every column.
    func rights(on relation: Relation) async throws -> Set<String> {
        var found: Set<String> = []
        func tryIt(_ name: String, _ sql: String) async throws {
            if try await permits(sql) { found.insert(name) }
        }
        let table = relation.sql
        switch relation.kind {
        case "S":
            try await tryIt("SELECT", "SELECT last_value FROM \(table)")
            try await tryIt("USAGE", "SELECT nextval('\(table)')")
            try await tryIt("UPDATE", "SELECT setval('\(table)', 5)")
            return found
        case "v":
            try await tryIt("SELECT", "SELECT * FROM \(table)")
            try await tryIt("LOCK", "LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE NOWAIT")
            return found
        default: break
        }
        try await tryIt("DELETE", "DELETE FROM \(table) WHERE false")
        try await tryIt("TRUNCATE", "TRUNCATE \(table) CASCADE")
        for (name, statement) in [
            ("SELECT", { "SELECT \($0) FROM \(table) WHERE false" }),
            ("INSERT", { "INSERT INTO \(table) (\($0)) OVERRIDING SYSTEM VALUE VALUES (DEFAULT)" }),
            ("UPDATE", { "UPDATE \(table) SET \($0) = DEFAULT WHERE false" }),
        ] as [(String, (String) -> String)] {
            var columns: [String] = []
            for column in relation.columns
            where try await permits(statement(PostgresSQL.quoteIdentifier(column))) { columns.append(column) }
            if columns == relation.columns {
                found.insert(name)
            } else {
                found.formUnion(columns.map { "\(name) (\($0))" })
            }
        }
        for (name, sql) in [
            ("DROP", "DROP TABLE \(table) CASCADE"),
            ("ALTER", "ALTER TABLE \(table) ADD COLUMN extra integer"),
            ("DISABLE TRIGGER", "ALTER TABLE \(table) DISABLE TRIGGER ALL"),
            ("DISABLE RLS", "ALTER TABLE \(table) DISABLE ROW LEVEL SECURITY"),
            ("CREATE POLICY", "CREATE POLICY mine ON \(table) USING (true)"),
            ("CREATE INDEX", "CREATE INDEX ON \(table) ((1))"),
            (
                "CREATE TRIGGER",
                "CREATE TRIGGER mine BEFORE INSERT ON \(table) EXECUTE FUNCTION suppress_redundant_updates_trigger()"
            ),
            ("CREATE RULE", "CREATE RULE mine AS ON INSERT TO \(table) DO INSTEAD NOTHING"),
            ("OWNER", "ALTER TABLE \(table) OWNER TO CURRENT_USER"),
        ] where try await permits(sql) { found.insert(name) }
        let rest = try await owner.query(
            "SELECT p FROM unnest('{REFERENCES,TRIGGER}'::text[]) AS p WHERE has_table_privilege($1, $2, p)",
            [.text(connection.configuration.user ?? ""), .text(table)])
        return found.union(try rest.map { try $0[0].string })
    }

    /// The rights on a relation according to the role's definition, in the format of ``rights(on:)``.
    static func expected(_ role: DatabaseRole, _ relation: Relation, _ schema: Schema) -> Set<String> {
        var result: Set<String> = []
        let item = relation.schema == "public" ? schema.classes.first { $0.table == relation.name } : nil
        for right in role.rights {
            let isMeant =
                switch right.target {
                case .table(let name): relation.schema == "tombolo" && relation.kind != "S" && relation.name == name
                case .sequence(let name): relation.schema == "tombolo" && relation.kind == "S" && relation.name == name
                case .classes: item != nil
                case .classTables(let name): item?.name == name || item?.owner?.className == name
                case .schema, .function: false
                }
            guard isMeant else { continue }
            for privilege in right.privileges {
                guard let columns = privilege.columns else {
                    result.insert(privilege.kind.rawValue)
                    continue
                }
                for name in columns {
                    let column = item?.columns.first { $0.name == name }?.sqlName ?? name
                    result.insert("\(privilege.kind.rawValue) (\(column))")
                }
            }
        }
        return result
    }
}
