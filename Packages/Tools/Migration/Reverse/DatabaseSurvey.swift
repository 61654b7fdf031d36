public import PostgresClient

/// The tables in one schema of a database, as described by PostgreSQL's catalog.
public struct DatabaseSurvey: Hashable, Sendable {
    /// `public` or another schema.
    public let schemaName: String
    /// Sorted by name.
    public let tables: [SurveyedTable]

    public init(schemaName: String, tables: [SurveyedTable]) {
        self.schemaName = schemaName
        self.tables = tables.sorted { $0.name < $1.name }
    }

    /// Reads the catalog. Any role that may connect can do so.
    /// - Parameter tables: nil for all. Names that don't exist are missing from the result.
    public static func read(
        _ connection: PostgresConnection, schemaName: String = "public", tables: [String]? = nil
    ) async throws -> DatabaseSurvey {
        var found: [String: SurveyedTable] = [:]
        for row in try await connection.query(tablesQuery, [.text(schemaName)]) {
            let name = try row[0].string
            found[name] = SurveyedTable(
                name: name, kind: try row[1].string == "v" ? .view : .table, hasChildren: try row[2].bool,
                forcesRowSecurity: try row[3].bool)
        }
        for row in try await connection.query(columnsQuery, [.text(schemaName)]) {
            found[try row[0].string]?.columns.append(
                SurveyedColumn(
                    name: try row[1].string, type: try row[2].string, baseType: try row[3].string,
                    labels: try row[4].nonNull?.stringArray.compactMap(\.self) ?? [], isRequired: try row[5].bool,
                    defaultExpression: try row[6].nonNull?.string,
                    generation: SurveyedColumn.Generation(
                        identity: try row[7].string, generated: try row[8].string,
                        isSerial: try row[6].nonNull?.string.hasPrefix("nextval(") ?? false),
                    collation: try row[9].nonNull?.string, isTwelveBytes: try row[10].bool))
        }
        for row in try await connection.query(indexesQuery, [.text(schemaName)]) {
            let columns = try row[3].stringArray.compactMap(\.self)
            guard !columns.isEmpty else { continue }
            if try row[1].bool {
                found[try row[0].string]?.primaryKey = columns
                found[try row[0].string]?.primaryKeyName = try row[4].string
            } else if try row[2].bool {
                found[try row[0].string]?.uniqueGroups.append(columns)
            } else if columns.count == 1 {
                found[try row[0].string]?.indexedColumns.insert(columns[0])
            }
        }
        for row in try await connection.query(foreignKeysQuery, [.text(schemaName)]) {
            found[try row[0].string]?.foreignKeys.append(
                SurveyedForeignKey(
                    columns: try row[1].stringArray.compactMap(\.self), table: try row[2].string,
                    referencedColumns: try row[3].stringArray.compactMap(\.self),
                    isInSameSchema: try row[4].bool, action: SurveyedForeignKey.Action(try row[5].string)))
        }
        let isMigrated = try await connection.query("SELECT to_regclass('tombolo.class') IS NOT NULL")
        if schemaName == "public", try isMigrated[0][0].bool {
            for row in try await connection.query("SELECT table_name, name FROM tombolo.class") {
                found[try row[0].string]?.className = try row[1].string
            }
        }
        let chosen = tables.map { names in found.values.filter { names.contains($0.name) } } ?? Array(found.values)
        return DatabaseSurvey(schemaName: schemaName, tables: chosen)
    }

    /// Tables that belong to an extension are left out.
    private static let tablesQuery = """
        SELECT c.relname::text, CASE WHEN c.relkind IN ('r', 'p') THEN 't' ELSE 'v' END,
            c.relkind <> 'p' AND EXISTS (SELECT 1 FROM pg_inherits h WHERE h.inhparent = c.oid),
            c.relrowsecurity AND c.relforcerowsecurity
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND NOT EXISTS
            (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
        """

    /// For a domain, this is its base type. `enum`, `array`, `range` and `composite` stand for types of these kinds.
    private static let columnsQuery = """
        SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
            CASE WHEN b.typelem <> 0 AND b.typlen = -1 AND b.typcategory = 'A' THEN 'array' WHEN b.typtype = 'e' THEN 'enum'
                WHEN b.typtype IN ('r', 'm') THEN 'range' WHEN b.typtype = 'c' THEN 'composite' ELSE b.typname::text END,
            (SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = b.oid),
            a.attnotnull OR t.typnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity::text, a.attgenerated::text,
            (SELECT CASE l.collname WHEN 'default' THEN b.datcollate ELSE l.collname::text END FROM pg_collation l
                JOIN pg_database b ON b.datname = current_database() WHERE l.oid = a.attcollation),
            EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c' AND a.attnum = ANY (k.conkey)
                AND array_length(k.conkey, 1) = 1 AND pg_get_constraintdef(k.oid) LIKE 'CHECK ((octet_length(%) = 12))')
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        JOIN pg_type t ON t.oid = a.atttypid
        JOIN LATERAL (WITH RECURSIVE base AS (
            SELECT t.oid, t.typbasetype, t.typtype, 0 AS depth UNION ALL
            SELECT s.oid, s.typbasetype, s.typtype, base.depth + 1 FROM base JOIN pg_type s ON s.oid = base.typbasetype
            WHERE base.typtype = 'd') SELECT p.* FROM base JOIN pg_type p ON p.oid = base.oid
            ORDER BY base.depth DESC LIMIT 1) b ON true
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        ORDER BY c.relname, a.attnum
        """

    /// Indexes over expressions, and partial indexes, say nothing about a property.
    private static let indexesQuery = """
        SELECT c.relname::text, i.indisprimary, i.indisunique,
            (SELECT array_agg(a.attname::text ORDER BY k.place)
            FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number WHERE k.place <= i.indnkeyatts),
            x.relname::text
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
        JOIN pg_class x ON x.oid = i.indexrelid
        WHERE i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL ORDER BY c.relname, x.relname
        """

    private static let foreignKeysQuery = """
        SELECT c.relname::text,
            (SELECT array_agg(a.attname::text ORDER BY o.place) FROM unnest(k.conkey) WITH ORDINALITY AS o (number, place)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = o.number),
            r.relname::text,
            (SELECT array_agg(a.attname::text ORDER BY o.place) FROM unnest(k.confkey) WITH ORDINALITY AS o (number, place)
            JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = o.number),
            r.relnamespace = c.relnamespace, k.confdeltype::text
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
        JOIN pg_class r ON r.oid = k.confrelid WHERE k.contype = 'f' ORDER BY c.relname, k.conname
        """
}
