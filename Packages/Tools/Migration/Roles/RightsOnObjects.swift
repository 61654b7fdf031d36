import PostgresClient
import TomboloModel
import TomboloPostgresStore

/// The rights of one role, object by object.
struct RightsOnObjects: Hashable, Sendable {
    /// An object as GRANT names it.
    struct Key: Hashable, Sendable, Comparable {
        /// `TABLE`, `SEQUENCE`, `FUNCTION` or `SCHEMA`.
        let kind: String
        let schema: String
        /// For functions, it includes the parameter types. Empty for a schema.
        let name: String

        static func < (a: Key, b: Key) -> Bool { (a.kind, a.schema, a.name) < (b.kind, b.schema, b.name) }

        /// The SQL after GRANT … ON.
        var sql: String {
            switch kind {
            case "SCHEMA": "SCHEMA \(PostgresSQL.quoteIdentifier(schema))"
            case "FUNCTION": "FUNCTION \(PostgresSQL.quoteIdentifier(schema)).\(name)"
            default: "\(kind) \(PostgresSQL.quoteIdentifier(schema, name))"
            }
        }

        var description: String { kind == "SCHEMA" ? "schema \(schema)" : "\(schema).\(name)" }
    }

    /// A privilege, limited to one column if it doesn't apply to all.
    struct Item: Hashable, Sendable, Comparable {
        let privilege: String
        let column: String?
        var isGrantable = false

        static func < (a: Item, b: Item) -> Bool { (a.privilege, a.column ?? "") < (b.privilege, b.column ?? "") }

        var description: String { column.map { "\(privilege) (\($0))" } ?? privilege }
    }

    var items: [Key: Set<Item>] = [:]

    /// The rights that a role should have.
    /// - Parameter schema: nil leaves out the tables of classes.
    init(_ role: DatabaseRole, _ schema: Schema?) {
        for right in role.rights {
            switch right.target {
            case .schema(let name): add(right, Key(kind: "SCHEMA", schema: name, name: ""))
            case .table(let name): add(right, Key(kind: "TABLE", schema: "tombolo", name: name))
            case .sequence(let name): add(right, Key(kind: "SEQUENCE", schema: "tombolo", name: name))
            case .function(let name): add(right, Key(kind: "FUNCTION", schema: "tombolo", name: name))
            case .classes: for item in schema?.classes ?? [] { add(right, item) }
            case .classTables(let name):
                for item in schema?.classes ?? [] where item.name == name || item.owner?.className == name {
                    add(right, item)
                }
            }
        }
    }

    private mutating func add(_ right: DatabaseRight, _ item: ClassSchema) {
        add(right, Key(kind: "TABLE", schema: "public", name: item.table)) { column in
            item.columns.first { $0.name == column }?.sqlName ?? column
        }
    }

    private mutating func add(_ right: DatabaseRight, _ key: Key, _ column: (String) -> String = { $0 }) {
        for privilege in right.privileges {
            let name = privilege.kind.rawValue
            guard let columns = privilege.columns else {
                items[key, default: []].insert(Item(privilege: name, column: nil))
                continue
            }
            for each in columns { items[key, default: []].insert(Item(privilege: name, column: column(each))) }
        }
    }

    // MARK: Current rights

    init() {}

    /// By role, the rights in `public` and `tombolo` that the owners of objects have granted. Rights through
    /// membership or through PUBLIC aren't included.
    static func read(_ roles: [String], _ connection: PostgresConnection) async throws -> [String: RightsOnObjects] {
        var result: [String: RightsOnObjects] = [:]
        for row in try await connection.query(query, [.textArray(roles)]) {
            let key = Key(kind: try row[1].string, schema: try row[2].string, name: try row[3].string)
            let item = Item(
                privilege: try row[5].string, column: try row[4].nonNull?.string, isGrantable: try row[6].bool)
            result[try row[0].string, default: RightsOnObjects()].items[key, default: []].insert(item)
        }
        return result
    }

    private static let query = """
        SELECT g.rolname::text, o.kind, o.schema, o.name, o.col, a.privilege_type, a.is_grantable FROM (
            SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind, n.nspname::text AS schema,
                c.relname::text AS name, NULL::text AS col, c.relacl AS acl, c.relowner AS owner
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname IN ('public', 'tombolo') AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
            UNION ALL
            SELECT 'TABLE', n.nspname, c.relname, t.attname::text, t.attacl, c.relowner
            FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname IN ('public', 'tombolo') AND t.attacl IS NOT NULL AND NOT t.attisdropped
            UNION ALL
            SELECT 'FUNCTION', n.nspname, p.proname || '(' || oidvectortypes(p.proargtypes) || ')', NULL, p.proacl, p.proowner
            FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'tombolo'
            UNION ALL
            SELECT 'SCHEMA', n.nspname, '', NULL, n.nspacl, n.nspowner FROM pg_namespace n WHERE n.nspname = 'tombolo'
        ) AS o CROSS JOIN LATERAL aclexplode(o.acl) AS a JOIN pg_roles g ON g.oid = a.grantee
        WHERE g.rolname = ANY ($1) AND a.grantor = o.owner
        """

    /// The same rights after tables and columns were renamed, because PostgreSQL keeps rights on renamed objects.
    func renamed(_ names: [String: PostgresCatalog.NewNames]) -> RightsOnObjects {
        var result = RightsOnObjects()
        for (key, items) in items {
            guard key.schema == "public", let new = names[key.name] else {
                result.items[key] = items
                continue
            }
            result.items[Key(kind: key.kind, schema: key.schema, name: new.table)] = Set(
                items.map { item in
                    Item(
                        privilege: item.privilege, column: item.column.map { new.columns[$0] ?? $0 },
                        isGrantable: item.isGrantable)
                })
        }
        return result
    }

    // MARK: The difference

    /// The statements that turn a role's present rights into these.
    func statements(from present: RightsOnObjects, for role: String) -> [String] {
        let name = PostgresSQL.quoteIdentifier(role)
        var statements: [String] = []
        for key in Set(items.keys).union(present.items.keys).sorted() {
            let (wanted, found) = (items[key] ?? [], present.items[key] ?? [])
            guard wanted != found else { continue }
            // For a table, this also revokes privileges on its columns.
            if !found.subtracting(wanted).isEmpty { statements.append("REVOKE ALL ON \(key.sql) FROM \(name)") }
            if !wanted.isEmpty { statements.append("GRANT \(Self.list(wanted)) ON \(key.sql) TO \(name)") }
        }
        return statements
    }

    private static func list(_ items: Set<Item>) -> String {
        Dictionary(grouping: items, by: \.privilege).sorted { $0.key < $1.key }.flatMap { privilege, items in
            let columns = items.compactMap(\.column).sorted().map { PostgresSQL.quoteIdentifier($0) }
            let limited = columns.isEmpty ? [] : ["\(privilege) (\(columns.joined(separator: ", ")))"]
            return (items.contains { $0.column == nil } ? [privilege] : []) + limited
        }.joined(separator: ", ")
    }
}
