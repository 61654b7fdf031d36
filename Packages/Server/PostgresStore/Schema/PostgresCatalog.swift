public import PostgresClient

/// What a live database has of the tables that a ``Schema`` asks for, read from PostgreSQL's catalog.
public struct PostgresCatalog: Hashable, Sendable {
    /// One column as it is in the database.
    public struct Column: Hashable, Sendable {
        /// As `format_type` prints it, for example `timestamp with time zone`.
        public let type: String
        public let isRequired: Bool
        public let hasDefault: Bool

        public init(type: String, isRequired: Bool, hasDefault: Bool) {
            self.type = type
            self.isRequired = isRequired
            self.hasDefault = hasDefault
        }
    }

    /// The `ON DELETE` action of a foreign key.
    public enum DeleteAction: String, Hashable, Sendable {
        case cascade = "CASCADE"
        case setNull = "SET NULL"
        /// Refuses the deletion, or sets a default: no model asks for that.
        case other

        /// - Parameter code: the value of `pg_constraint.confdeltype`.
        init(_ code: String) {
            self = code == "c" ? .cascade : code == "n" ? .setNull : .other
        }
    }

    /// A unique index that doesn't belong to a constraint.
    public struct UniqueIndex: Hashable, Sendable {
        public let table: String
        public let columns: [String]
    }

    /// Columns of the tables in `public`, by table and name.
    public internal(set) var tables: [String: [String: Column]] = [:]
    /// Relations in `public` that aren't tables but whose names a table can't have: a description of each, by name.
    public internal(set) var otherRelations: [String: String] = [:]
    /// Valid indexes in `public`, by name.
    public internal(set) var indexes: Set<String> = []
    /// The unique indexes that can be dropped on their own to remove a uniqueness rule, by name.
    public internal(set) var uniqueIndexes: [String: UniqueIndex] = [:]
    /// Partial indexes in `public`, by name.
    public internal(set) var partialIndexes: Set<String> = []
    /// Foreign keys of tables in `public`, as `table.constraint`, with what happens to the row when its target is
    /// deleted.
    public internal(set) var foreignKeys: [String: DeleteAction] = [:]
    /// The foreign keys that a transaction may check at its end.
    public internal(set) var deferrableKeys: Set<String> = []
    /// CHECK constraints of tables in `public`, as `table.constraint`, with their sorted column names.
    public internal(set) var checks: [String: [String]] = [:]
    /// Row-level security policies, as `table.policy`, of tables that have row-level security enabled.
    public internal(set) var policies: Set<String> = []
    /// Triggers that always fire, and those of ours that fire when they should, as `table.trigger`.
    public internal(set) var triggers: Set<String> = []
    /// Tables in `public` whose inserts have to be logged row by row: see ``TriggerGenerator``.
    public internal(set) var rowLoggedTables: Set<String> = []
    /// Source texts of the functions in `tombolo`, by name.
    public internal(set) var functions: [String: String] = [:]
    /// Tables, sequences, indexes and views in `tombolo`, and columns that later versions added to tables, such as
    /// `class_column.sql_name`.
    public internal(set) var systemRelations: Set<String> = []
    public internal(set) var identifiers = SchemaIdentifiers()
    /// The numbers of the classes with a trash.
    public internal(set) var trashableClasses: Set<Int16> = []

    /// An empty database.
    public static let empty = PostgresCatalog()
}

extension PostgresCatalog {
    /// Reads the catalog. Any role that may connect can do so.
    public static func read(_ connection: PostgresConnection) async throws -> PostgresCatalog {
        var catalog = PostgresCatalog()
        for row in try await connection.query(columnsQuery) {
            catalog.tables[try row[0].string, default: [:]][try row[1].string] = Column(
                type: try row[2].string, isRequired: try row[3].bool, hasDefault: try row[4].bool)
        }
        for row in try await connection.query(objectsQuery) {
            let name = try row[1].string
            switch try row[0].string {
            case "index":
                catalog.indexes.insert(name)
                let parts = try row[2].string.split(separator: "\n").map(String.init)
                guard let table = parts.first else { continue }
                catalog.uniqueIndexes[name] = UniqueIndex(table: table, columns: Array(parts.dropFirst()))
            case "partial": catalog.partialIndexes.insert(name)
            case "foreign key": catalog.foreignKeys[name] = DeleteAction(try row[2].string)
            case "deferrable": catalog.deferrableKeys.insert(name)
            case "check": catalog.checks[name] = try row[2].string.split(separator: "\n").map(String.init).sorted()
            case "policy": catalog.policies.insert(name)
            case "trigger": catalog.triggers.insert(name)
            case "row-logged": catalog.rowLoggedTables.insert(name)
            case "relation": catalog.systemRelations.insert(name)
            case "other": catalog.otherRelations[name] = try row[2].string
            default: catalog.functions[name] = try row[2].string
            }
        }
        guard catalog.systemRelations.isSuperset(of: ["class", "class_column"]) else { return catalog }
        catalog.identifiers = try await SchemaIdentifiers.read(connection)
        for row in try await connection.query("SELECT id FROM tombolo.class WHERE is_trashable") {
            catalog.trashableClasses.insert(Int16(truncatingIfNeeded: try row[0].int64))
        }
        return catalog
    }

    private static let columnsQuery = """
        SELECT c.relname::text, coalesce(a.attname::text, ''), coalesce(format_type(a.atttypid, a.atttypmod), ''), \
        coalesce(a.attnotnull, false), coalesce(a.atthasdef, false) \
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' \
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
        WHERE c.relkind IN ('r', 'p')
        """

    private static let objectsQuery = """
        SELECT 'index', c.relname::text, CASE WHEN i.indisunique AND NOT i.indisprimary \
        AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid) \
        THEN (SELECT t.relname FROM pg_class t WHERE t.oid = i.indrelid) || coalesce((SELECT string_agg(E'\n' || \
        a.attname, '' ORDER BY array_position(i.indkey::int2[], a.attnum)) FROM pg_attribute a \
        WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::int2[])), '') ELSE '' END \
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' WHERE i.indisvalid \
        UNION ALL \
        SELECT 'partial', c.relname::text, '' FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' WHERE i.indpred IS NOT NULL \
        UNION ALL \
        SELECT 'other', c.relname::text, CASE c.relkind WHEN 'i' THEN 'an index' WHEN 'I' THEN 'an index' \
        WHEN 'S' THEN 'a sequence' WHEN 'v' THEN 'a view' WHEN 'm' THEN 'a materialized view' \
        WHEN 'f' THEN 'a foreign table' ELSE 'a type' END FROM pg_class c \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' WHERE c.relkind NOT IN ('r', 'p') \
        UNION ALL \
        SELECT 'foreign key', c.relname || '.' || k.conname, k.confdeltype::text FROM pg_constraint k \
        JOIN pg_class c ON c.oid = k.conrelid \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' WHERE k.contype = 'f' \
        UNION ALL \
        SELECT 'deferrable', c.relname || '.' || k.conname, '' FROM pg_constraint k \
        JOIN pg_class c ON c.oid = k.conrelid \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' WHERE k.contype = 'f' AND k.condeferrable \
        UNION ALL \
        SELECT 'check', c.relname || '.' || k.conname, (SELECT coalesce(string_agg(a.attname, E'\n'), '') \
        FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)) FROM pg_constraint k \
        JOIN pg_class c ON c.oid = k.conrelid \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' WHERE k.contype = 'c' \
        UNION ALL \
        SELECT 'policy', c.relname || '.' || p.polname, '' FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' WHERE c.relrowsecurity \
        UNION ALL \
        SELECT 'trigger', c.relname || '.' || t.tgname, '' FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' \
        WHERE NOT t.tgisinternal AND t.tgenabled = CASE t.tgname WHEN '\(SchemaName.insertTrigger)' THEN 'O' \
        WHEN '\(SchemaName.replicaTrigger)' THEN 'R' ELSE 'A' END \
        UNION ALL \
        SELECT 'row-logged', c.relname::text, '' FROM pg_class c \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' \
        WHERE c.relkind = 'p' OR EXISTS (SELECT 1 FROM pg_inherits h WHERE h.inhrelid = c.oid) \
        OR EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal \
        AND t.tgname NOT LIKE 'tombolo\\_%' AND t.tgtype & 4 > 0 AND t.tgtype & 66 = 0) \
        UNION ALL \
        SELECT 'relation', c.relname::text, '' FROM pg_class c \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'tombolo' WHERE c.relkind IN ('r', 'p', 'S', 'i', 'I', 'v') \
        UNION ALL \
        SELECT 'relation', c.relname || '.' || a.attname, '' FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
        WHERE a.attrelid IN (to_regclass('tombolo.class_column'), to_regclass('tombolo.changelog'), \
        to_regclass('tombolo.document'), to_regclass('tombolo.job'), to_regclass('tombolo.job_row'), \
        to_regclass('tombolo.routine')) \
        AND a.attnum > 0 AND NOT a.attisdropped \
        UNION ALL \
        SELECT 'function', p.proname::text, p.prosrc FROM pg_proc p \
        JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname = 'tombolo'
        """
}

extension SchemaIdentifiers {
    /// Reads the numbers that a migrated database has assigned.
    public static func read(_ connection: PostgresConnection) async throws -> SchemaIdentifiers {
        var classes: [String: Int16] = [:]
        var columns: [String: [String: Int16]] = [:]
        var tables: [String: String] = [:]
        var sqlNames: [String: [String: String]] = [:]
        for row in try await connection.query("SELECT name, id, table_name FROM tombolo.class") {
            classes[try row[0].string] = Int16(truncatingIfNeeded: try row[1].int64)
            tables[try row[0].string] = try row[2].string
        }
        // A database of an earlier version has no column `sql_name`.
        let query = """
            SELECT c.name, k.name, k.id, to_jsonb(k) ->> 'sql_name' \
            FROM tombolo.class_column k JOIN tombolo.class c ON c.id = k.class
            """
        for row in try await connection.query(query) {
            let (className, name) = (try row[0].string, try row[1].string)
            columns[className, default: [:]][name] = Int16(truncatingIfNeeded: try row[2].int64)
            sqlNames[className, default: [:]][name] = try row[3].nonNull?.string
        }
        return SchemaIdentifiers(classes: classes, columns: columns, tables: tables, sqlNames: sqlNames)
    }
}
