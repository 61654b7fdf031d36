internal import TomboloModel
internal import TomboloSQL

/// Writes the PL/pgSQL of one table's changelog triggers.
///
/// Inserts are logged by one statement for all rows of the writer's statement, which costs half as much as a call per
/// row. Many inserts with one origin share ``BulkRow``s. Updates and deletes are logged row by row: a table of old
/// rows and a table of new rows don't show which rows belong together once a key changes, and changes that another
/// service's trigger makes in between must be logged in order. Inserts are also logged row by row where a statement
/// trigger would miss some or come too late:
///
/// - for logical replication, which fires no statement triggers. Its session has the role `replica`, in which the row
///   trigger fires and the statement trigger doesn't.
/// - for partitioned tables, partitions, and tables that inherit: a statement on one table writes rows of another. An
///   ordinary table can't become one later, because PostgreSQL refuses that for tables with row triggers that have a
///   table of new rows. The replication trigger has such a table for this reason alone, and doesn't use it.
/// - where another service's trigger runs after inserts, because it may change the row before the statement ends.
///
/// The setting `tombolo.origin`, which uploads set, says whose changeset the transaction is applying: `stamp client
/// number class {columns set by default} {columns added to}`. If the new rows come from several changesets of one
/// client, it describes the last of them, followed by the stamps and numbers of all: `{stamp,…} {number,…}`. The
/// setting `tombolo.origin_places` then maps each key to its changeset, counted from 1, as a JSON object.
///
/// Anybody can set these, so they only count in sessions of users who may write the changelog's column `client`
/// directly: the owner and the gateway's role, with their members. (A session's user stays the one who logged in,
/// whatever `SET ROLE` says.) Any other write counts as plain SQL.
///
/// The functions run with the owner's rights and the writer's search path, because setting another path for each row
/// costs a tenth of an update. So nothing in them may be looked up by that path: every function, type and operator is
/// qualified with `pg_catalog`, and what can't be (`IS DISTINCT FROM`, `IN`, `BETWEEN`, `NULLIF`) isn't used.
struct TriggerGenerator {
    let item: ClassSchema
    let schema: Schema
    let classID: Int16
    let key: Column
    /// Scalars and links with their numbers, sorted by number and including the key. The order of a class's
    /// properties doesn't matter.
    let columns: [(column: Column, id: Int16)]

    /// - Parameter isPresent: whether the table already has a column.
    /// - Returns: nil for a class without a primary key, which isn't synchronised.
    init?(
        item: ClassSchema, schema: Schema, identifiers: SchemaIdentifiers,
        isPresent: (Column) -> Bool = { _ in true }
    ) {
        guard let key = item.primaryKey, let classID = identifiers.classes[item.name] else { return nil }
        self.item = item
        self.schema = schema
        self.classID = classID
        self.key = key
        let ids = identifiers.columns[item.name] ?? [:]
        columns = item.columns.filter(isPresent).compactMap { column in ids[column.name].map { (column, $0) } }
            .sorted { $0.id < $1.id }
    }

    static func definition(name: String, body: String) -> String {
        """
        CREATE OR REPLACE FUNCTION tombolo.\(name)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
        AS $function$\(body)$function$;
        REVOKE ALL ON FUNCTION tombolo.\(name)() FROM PUBLIC
        """
    }

    var logFunction: String { SchemaName.logFunction(classID) }
    var truncateFunction: String { SchemaName.truncateFunction(classID) }

    var insertFunction: String { SchemaName.insertFunction(classID) }

    var functions: [(name: String, body: String)] {
        [(logFunction, logBody), (insertFunction, insertBody), (truncateFunction, truncateBody)]
    }

    /// - Parameter rowByRow: whether inserts are logged row by row, like updates and deletes.
    /// - Returns: the triggers that the table must have, and the names of those that it must not have.
    func triggers(rowByRow: Bool) -> (wanted: [(name: String, sql: String)], unwanted: [String]) {
        let truncate = trigger(SchemaName.truncateTrigger, "BEFORE TRUNCATE", "FOR EACH STATEMENT", truncateFunction)
        let log = trigger(SchemaName.logTrigger, "AFTER INSERT OR UPDATE OR DELETE", "FOR EACH ROW", logFunction)
        let new = "REFERENCING NEW TABLE AS \(Self.newRows) "
        let separate = [
            trigger(SchemaName.changeTrigger, "AFTER UPDATE OR DELETE", "FOR EACH ROW", logFunction),
            // Exactly one of these two fires, whatever `session_replication_role` is.
            trigger(
                SchemaName.insertTrigger, "AFTER INSERT", new + "FOR EACH STATEMENT", insertFunction, enable: "ENABLE"),
            trigger(
                SchemaName.replicaTrigger, "AFTER INSERT", new + "FOR EACH ROW", logFunction, enable: "ENABLE REPLICA"),
        ]
        return rowByRow ? ([log, truncate], separate.map(\.name)) : (separate + [truncate], [log.name])
    }

    private func trigger(
        _ name: String, _ event: String, _ level: String, _ function: String, enable: String = "ENABLE ALWAYS"
    ) -> (name: String, sql: String) {
        let table = "public.\(SQLDialect.postgresql.quoted(item.table))"
        return (
            name,
            """
            CREATE OR REPLACE TRIGGER \(name) \(event) ON \(table) \(level) \
            EXECUTE FUNCTION tombolo.\(function)();
            ALTER TABLE \(table) \(enable) TRIGGER \(name)
            """
        )
    }

    // MARK: Expressions

    func text(_ record: String, _ column: Column) -> String {
        KeyText.expression(
            "\(record)\(SQLDialect.postgresql.quoted(column.sqlName))", schema.storedType(of: column))
    }

    private var isElement: Bool { item.owner != nil }

    func root(_ record: String) -> String {
        isElement ? text(record, item.columns[ElementColumn.owner]) : "NULL"
    }

    /// The columns and old values of an erase: every scalar, plus whether the row was in the trash and why.
    private func erased(_ record: String) -> (ids: String, values: String) {
        var ids = columns.map { String($0.id) }
        var values = columns.map { text(record, $0.column) }
        if item.isTrashable {
            ids += [LoggedValue.trashColumn, LoggedValue.trashReasonColumn]
            values += ["(\(record)trashed_at IS NOT NULL)::pg_catalog.text", "\(record)trash_reason"]
        }
        return (
            "'{\(ids.joined(separator: ","))}'::smallint[]",
            "ARRAY[\(values.joined(separator: ", "))]::pg_catalog.text[]"
        )
    }

    private static let logColumns =
        "class, key, operation, columns, old, marks, root, stamp, client, number"

    /// The name of the table of a statement's new rows.
    private static let newRows = "tombolo_new_rows"

    /// Microseconds since 1970, computed with doubles: they cost less than numerics and are off by a microsecond at
    /// most.
    private static let now =
        "(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) \(sql("*")) 1000000)::bigint"

    /// One of PostgreSQL's own operators.
    private static func sql(_ operation: String) -> String { "OPERATOR(pg_catalog.\(operation))" }

    private func sql(_ operation: String) -> String { Self.sql(operation) }

    /// Whether an update changed a column.
    private func isChanged(_ column: String) -> String {
        let name = SQLDialect.postgresql.quoted(column)
        return
            "coalesce(OLD.\(name) \(sql("<>")) NEW.\(name), (OLD.\(name) IS NULL) \(sql("<>")) (NEW.\(name) IS NULL))"
    }

    // MARK: Rows and statements

    private static let originVariables = """
            v_origin pg_catalog.text := pg_catalog.current_setting('tombolo.origin', true);
            v_stamp bigint := \(now);
            v_part pg_catalog.text[];
            v_client bigint;
            v_number bigint;
            v_defaults smallint[];
            v_stamps bigint[];
            v_numbers bigint[];
            v_places pg_catalog.jsonb;
        """

    /// Parses the origin, if it counts.
    private func readOrigin(_ others: String = "") -> String {
        """
            IF v_origin \(sql("<>")) ''
                AND pg_catalog.has_column_privilege(
                    session_user, 'tombolo.changelog'::pg_catalog.regclass, 'client', 'INSERT') THEN
                v_part := pg_catalog.string_to_array(v_origin, ' ');
                v_stamp := least(v_part[1]::bigint, v_stamp);
                v_client := v_part[2]::bigint;
                v_number := v_part[3]::bigint;
                IF v_part[4] \(sql("=")) '\(classID)' THEN
                    v_defaults := v_part[5]::smallint[];
        \(others)            IF v_part[8] IS NOT NULL THEN
                        v_stamps := v_part[7]::bigint[];
                        v_numbers := v_part[8]::bigint[];
                        v_places := pg_catalog.current_setting('tombolo.origin_places', true)::pg_catalog.jsonb;
                    END IF;
                END IF;
            END IF;
        """
    }

    /// The marks of a created object, one for each column that was set by default.
    private static let markDefaults = """
            IF v_defaults \(sql("<>")) '{}' THEN
                v_marks := pg_catalog.concat(v_marks, 'd', pg_catalog.array_to_string(v_defaults, ' d'));
            END IF;
        """

    var insertBody: String {
        """

        -- Made from the class \(item.name); changes are overwritten.
        DECLARE
        \(Self.originVariables)
            v_marks pg_catalog.text;
        BEGIN
        \(readOrigin())
        \(Self.markDefaults)
        \(bulkInsert)    IF v_places IS NOT NULL THEN
                INSERT INTO tombolo.changelog (class, key, operation, marks, root, stamp, client, number)
                SELECT \(classID), r.key, 'c', v_marks, r.root, least(coalesce(v_stamps[r.place], v_stamp), \(Self.now)),
                    v_client, coalesce(v_numbers[r.place], v_number)
                FROM (SELECT \(text("t.", key)) AS key, \(root("t.")) AS root,
                    (v_places \(sql("->>")) \(text("t.", key)))::integer AS place FROM \(Self.newRows) AS t OFFSET 0) AS r;
                RETURN NULL;
            END IF;
            INSERT INTO tombolo.changelog (class, key, operation, marks, root, stamp, client, number)
            SELECT \(classID), \(text("t.", key)), 'c', v_marks, \(root("t.")), v_stamp, v_client, v_number
            FROM \(Self.newRows) AS t;
            RETURN NULL;
        END
        """
    }

    /// Logs many rows with one origin. List elements are logged one by one, each with the object that has the list.
    private var bulkInsert: String {
        guard !isElement else { return "" }
        let group = "(t.number \(sql("-")) 1) \(sql("/")) \(BulkRow.keyLimit)"
        return """
                IF v_places IS NULL AND EXISTS (SELECT FROM \(Self.newRows) OFFSET \(BulkRow.keyLimit)) THEN
                    INSERT INTO tombolo.changelog (seq, class, key, operation, marks, stamp, client, number, keys)
                    SELECT b.seq, \(BulkRow.classNumber(of: classID)), \(BulkRow.key("b.seq")), 'c', v_marks, v_stamp,
                        v_client, v_number, b.keys
                    FROM (SELECT pg_catalog.nextval('tombolo.changelog_seq') AS seq, g.keys FROM (
                        SELECT pg_catalog.array_agg(t.key) AS keys FROM (
                            SELECT \(text("t.", key)) AS key, pg_catalog.row_number() OVER () AS number
                            FROM \(Self.newRows) AS t) AS t
                        GROUP BY \(group) ORDER BY \(group)) AS g
                    OFFSET 0) AS b;
                    RETURN NULL;
                END IF;

            """
    }

    var logBody: String {
        """

        -- Made from the class \(item.name); changes are overwritten.
        DECLARE
        \(Self.originVariables)
            v_additions smallint[];
            v_columns smallint[];
            v_old pg_catalog.text[];
            v_marks pg_catalog.text;
            v_place integer;
        BEGIN
        \(readOrigin("            v_additions := v_part[6]::smallint[];\n"))
            IF TG_OP \(sql("=")) 'UPDATE' THEN
                IF NOT \(isChanged(key.sqlName)) THEN
        \(ownerGuard)\(comparisons)            -- Of an upload.
                    IF v_part IS NOT NULL THEN
        \(additions)        \(Self.markDefaults)
                    END IF;
                    INSERT INTO tombolo.changelog (\(Self.logColumns))
                    VALUES (\(classID), \(text("OLD.", key)), 'u', v_columns, v_old, v_marks, \
        \(root("OLD.")), v_stamp, v_client, v_number);
                    RETURN NULL;
                END IF;
            END IF;
            IF v_places IS NOT NULL AND TG_OP \(sql("=")) 'INSERT' THEN
                v_place := (v_places \(sql("->>")) \(text("NEW.", key)))::integer;
                v_stamp := least(coalesce(v_stamps[v_place], v_stamp), \(Self.now));
                v_number := coalesce(v_numbers[v_place], v_number);
            END IF;
            IF TG_OP \(sql("<>")) 'INSERT' THEN
                INSERT INTO tombolo.changelog (\(Self.logColumns))
                VALUES (\(classID), \(text("OLD.", key)), 'e', \(erased("OLD.").ids), \(erased("OLD.").values), NULL, \
        \(root("OLD.")), v_stamp, v_client, v_number);
            END IF;
            IF TG_OP \(sql("<>")) 'DELETE' THEN
        \(Self.markDefaults)
                INSERT INTO tombolo.changelog (\(Self.logColumns))
                VALUES (\(classID), \(text("NEW.", key)), 'c', NULL, NULL, v_marks, \(root("NEW.")), \
        v_stamp, v_client, v_number);
            END IF;
            RETURN NULL;
        END
        """
    }

    private static let trashReason = "trash_reason"

    private var ownerGuard: String {
        guard isElement else { return "" }
        let owner = item.columns[ElementColumn.owner].sqlName
        return """
                        IF \(isChanged(owner)) THEN
                            RAISE EXCEPTION 'an element of \(item.name) cannot move to another object''s list'
                                USING ERRCODE = 'check_violation', HINT = 'Delete it and insert a new one.',
                                    SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = '\(owner)';
                        END IF;

            """
    }

    /// The columns that an update changed, and their old values, with NULL for each unchanged one. One expression
    /// costs less than a statement per column. It compares each column only once, because a large value has to be
    /// read for that.
    private var comparisons: String {
        var changes = columns.filter { !$0.column.isPrimaryKey }.map { column, id in
            (id: id, isChanged: isChanged(column.sqlName), old: text("OLD.", column))
        }
        if item.isTrashable {
            changes += [
                (
                    id: SchemaIdentifiers.trashColumn,
                    isChanged: "(OLD.trashed_at IS NULL) \(sql("<>")) (NEW.trashed_at IS NULL)",
                    old: "(OLD.trashed_at IS NOT NULL)::pg_catalog.text"
                ),
                (
                    id: SchemaIdentifiers.trashReasonColumn, isChanged: isChanged(Self.trashReason),
                    old: "OLD.\(Self.trashReason)"
                ),
            ]
        }
        let ids = changes.map { "CASE WHEN \($0.isChanged) THEN \($0.id)::smallint END" }
        let values = changes.enumerated().map { position, change in
            "CASE WHEN v_columns[\(position + 1)] IS NOT NULL THEN \(change.old) END"
        }
        func array(_ elements: [String], _ type: String) -> String {
            elements.isEmpty
                ? "'{}'::\(type)[]" : "ARRAY[\n                \(elements.joined(separator: ",\n                "))]"
        }
        return """
                        v_columns := \(array(ids, "smallint"));
                        IF (\(SchemaIdentifiers.trashReasonColumn) \(sql("<=")) ANY (v_columns)) IS NOT TRUE THEN
                            RETURN NULL;
                        END IF;
                        v_old := \(array(values, "pg_catalog.text"));

            """
    }

    /// The marks of counters that were added to.
    private var additions: String {
        var lines: [String] = []
        for (column, id) in columns where !column.isPrimaryKey {
            guard case .int = column.type else { continue }
            let name = SQLDialect.postgresql.quoted(column.sqlName)
            lines += [
                "    IF \(id) \(sql("=")) ANY (v_columns) AND \(id) \(sql("=")) ANY (v_additions) THEN",
                "        v_marks := pg_catalog.concat(v_marks, 'a\(id)=',",
                "            coalesce(NEW.\(name), 0) \(sql("-")) coalesce(OLD.\(name), 0), ' ');",
                "    END IF;",
            ]
        }
        guard !lines.isEmpty else { return "" }
        return (["IF v_additions \(sql("<>")) '{}' THEN"] + lines + ["END IF;"]).map { "            \($0)\n" }.joined()
    }

    // MARK: TRUNCATE

    /// The trigger's query must see every row that is removed. A snapshot taken before the table was locked may miss
    /// some.
    var truncateBody: String {
        let row = erased("t.")
        return """

            -- Made from the class \(item.name); changes are overwritten.
            BEGIN
                IF pg_catalog.current_setting('transaction_isolation')
                    \(sql("<>")) ALL (ARRAY['read committed', 'read uncommitted']) THEN
                    RAISE EXCEPTION 'TRUNCATE of % needs the isolation level READ COMMITTED', TG_TABLE_NAME
                        USING ERRCODE = 'object_not_in_prerequisite_state',
                            HINT = 'Its rows are read for the changelog. Use DELETE, or another isolation level.';
                END IF;
                INSERT INTO tombolo.changelog (\(Self.logColumns))
                SELECT \(classID), \(text("t.", key)), 'e', \(row.ids), \(row.values), NULL, \(root("t.")),
                    \(Self.now), NULL, NULL
                FROM public.\(SQLDialect.postgresql.quoted(item.table)) AS t;
                RETURN NULL;
            END
            """
    }
}
