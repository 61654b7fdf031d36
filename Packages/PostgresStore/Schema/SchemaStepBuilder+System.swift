internal import TomboloModel

extension SchemaStepBuilder {
    /// Everything of ours that does not depend on the model.
    mutating func addSystem() {
        let missing = SystemRelation.all.filter { !live.systemRelations.contains($0.name) }
        if !missing.isEmpty {
            add(
                "schema tombolo",
                "CREATE SCHEMA IF NOT EXISTS tombolo;\nREVOKE ALL ON SCHEMA tombolo FROM PUBLIC")
        }
        for relation in missing { add("tombolo.\(relation.name)", relation.sql) }
        let functions = SystemFunction.all.filter { live.functions[$0.name] != $0.body }
        for function in functions { add("function tombolo.\(function.name)", function.sql) }
    }
}

/// A table or sequence in `tombolo`.
struct SystemRelation {
    let name: String
    let sql: String

    static let all: [SystemRelation] = [
        SystemRelation(
            name: "class",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.class (
                    id smallint PRIMARY KEY CHECK (id > 0),
                    name text COLLATE "C" NOT NULL UNIQUE,
                    table_name text COLLATE "C" NOT NULL UNIQUE,
                    key_column text COLLATE "C" NOT NULL,
                    key_expression text COLLATE "C" NOT NULL,
                    is_trashable boolean NOT NULL
                )
                """),
        SystemRelation(
            name: "class_column",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.class_column (
                    class smallint NOT NULL REFERENCES tombolo.class (id),
                    id smallint NOT NULL CHECK (id > 0),
                    name text COLLATE "C" NOT NULL,
                    PRIMARY KEY (class, id),
                    UNIQUE (class, name)
                )
                """),
        SystemRelation(
            name: "changelog_seq", sql: "CREATE SEQUENCE IF NOT EXISTS tombolo.changelog_seq AS bigint CACHE 1 NO CYCLE"
        ),
        SystemRelation(
            name: "changelog",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.changelog (
                    seq bigint NOT NULL DEFAULT nextval('tombolo.changelog_seq'),
                    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
                    class smallint NOT NULL,
                    operation "char" NOT NULL,
                    stamp bigint NOT NULL,
                    client bigint,
                    number bigint,
                    key text COLLATE "C" NOT NULL,
                    root text COLLATE "C",
                    columns smallint[],
                    marks text COLLATE "C",
                    old text[] COLLATE "C"
                ) PARTITION BY RANGE (seq);
                CREATE INDEX IF NOT EXISTS changelog_xid ON tombolo.changelog (xid);
                CREATE INDEX IF NOT EXISTS changelog_key ON tombolo.changelog (class, key);
                CREATE TABLE IF NOT EXISTS tombolo.changelog_0 PARTITION OF tombolo.changelog \
                FOR VALUES FROM (0) TO (\(ChangelogPartition.width));
                CREATE TABLE IF NOT EXISTS tombolo.changelog_1 PARTITION OF tombolo.changelog \
                FOR VALUES FROM (\(ChangelogPartition.width)) TO (\(2 * ChangelogPartition.width))
                """),
        SystemRelation(
            name: "changelog_partition",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.changelog_partition (
                    generation bigint PRIMARY KEY,
                    attached_xid xid8 NOT NULL,
                    opened_at bigint
                );
                INSERT INTO tombolo.changelog_partition (generation, attached_xid, opened_at)
                VALUES (0, pg_current_xact_id(), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
                    (1, pg_current_xact_id(), NULL)
                ON CONFLICT DO NOTHING
                """),
        SystemRelation(
            name: "tick",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.tick (
                    number bigint PRIMARY KEY CHECK (number > 0),
                    token bigint NOT NULL,
                    snapshot pg_snapshot NOT NULL,
                    exported text NOT NULL,
                    time bigint NOT NULL,
                    position bigint NOT NULL,
                    first_seq bigint NOT NULL,
                    xid xid8 NOT NULL DEFAULT pg_current_xact_id()
                );
                CREATE INDEX IF NOT EXISTS tick_time ON tombolo.tick (time);
                COMMENT ON COLUMN tombolo.tick.first_seq IS \
                'Every change that the tick does not see has a greater seq.';
                COMMENT ON COLUMN tombolo.tick.position IS 'The sequence when the snapshot was about to be taken.'
                """),
        SystemRelation(
            name: "retention",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.retention (
                    id boolean PRIMARY KEY DEFAULT true CHECK (id),
                    floor bigint NOT NULL,
                    first_seq bigint NOT NULL,
                    set_at bigint NOT NULL
                )
                """),
        SystemRelation(
            name: "client",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.client (
                    id bigint PRIMARY KEY,
                    user_id text COLLATE "C" NOT NULL,
                    last bigint NOT NULL DEFAULT 0 CHECK (last >= 0),
                    opened_at timestamptz NOT NULL DEFAULT clock_timestamp()
                ) WITH (fillfactor = 50)
                """),
        SystemRelation(
            name: "receipt",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.receipt (
                    client bigint NOT NULL,
                    number bigint NOT NULL,
                    hash bigint NOT NULL,
                    code text COLLATE "C",
                    message text COLLATE "C",
                    class text COLLATE "C",
                    key text COLLATE "C",
                    PRIMARY KEY (client, number)
                )
                """),
        SystemRelation(
            name: "set_aside",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.set_aside (
                    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    client bigint NOT NULL,
                    number bigint NOT NULL,
                    at timestamptz NOT NULL DEFAULT clock_timestamp(),
                    sqlstate text COLLATE "C" NOT NULL,
                    message text COLLATE "C" NOT NULL,
                    changeset json NOT NULL
                )
                """),
    ]
}

/// A function in `tombolo` for the admin server. Not executable by PUBLIC.
struct SystemFunction {
    let name: String
    let parameters: String
    let result: String
    let body: String

    var sql: String {
        """
        CREATE OR REPLACE FUNCTION tombolo.\(name)(\(parameters)) RETURNS \(result) LANGUAGE plpgsql SECURITY DEFINER \
        SET search_path = pg_catalog, pg_temp AS $function$\(body)$function$;
        REVOKE ALL ON FUNCTION tombolo.\(name)(\(parameters)) FROM PUBLIC
        """
    }

    /// The row of `tombolo.class`, or an error that says what there is.
    private static let lookUp = """
            SELECT * INTO v_class FROM tombolo.class c WHERE c.name = p_class OR c.table_name = p_class;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'there is no class %', p_class USING ERRCODE = 'undefined_table',
                    HINT = 'Pass the name of a class or of its table.';
            END IF;
            IF NOT v_class.is_trashable THEN
                RAISE EXCEPTION 'objects of % are not kept in the trash', p_class
                    USING ERRCODE = 'wrong_object_type', HINT = 'Delete the row instead.';
            END IF;
        """

    static let all: [SystemFunction] = [
        SystemFunction(
            name: "trash", parameters: "p_class text, p_key text, p_by text, p_group uuid", result: "boolean",
            body: """

                -- Moves one object into the trash; false where it is not there or in the trash already.
                DECLARE
                    v_class tombolo.class%ROWTYPE;
                    v_count bigint;
                BEGIN
                \(lookUp)
                    EXECUTE format('UPDATE public.%I SET trashed_at = clock_timestamp(), trashed_by = $2, '
                        'trash_group = $3 WHERE %I = %s AND trashed_at IS NULL',
                        v_class.table_name, v_class.key_column, v_class.key_expression) USING p_key, p_by, p_group;
                    GET DIAGNOSTICS v_count = ROW_COUNT;
                    RETURN v_count > 0;
                END
                """),
        SystemFunction(
            name: "restore", parameters: "p_class text, p_key text", result: "boolean",
            body: """

                -- Takes one object out of the trash; a unique rule that it would break is error 23505 with its name.
                DECLARE
                    v_class tombolo.class%ROWTYPE;
                    v_count bigint;
                BEGIN
                \(lookUp)
                    EXECUTE format('UPDATE public.%I SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL '
                        'WHERE %I = %s AND trashed_at IS NOT NULL',
                        v_class.table_name, v_class.key_column, v_class.key_expression) USING p_key;
                    GET DIAGNOSTICS v_count = ROW_COUNT;
                    RETURN v_count > 0;
                END
                """),
        SystemFunction(
            name: "purge", parameters: "p_class text, p_key text", result: "boolean",
            body: """

                -- Deletes one object that is in the trash, for good.
                DECLARE
                    v_class tombolo.class%ROWTYPE;
                    v_count bigint;
                BEGIN
                \(lookUp)
                    EXECUTE format('DELETE FROM public.%I WHERE %I = %s AND trashed_at IS NOT NULL',
                        v_class.table_name, v_class.key_column, v_class.key_expression) USING p_key;
                    GET DIAGNOSTICS v_count = ROW_COUNT;
                    RETURN v_count > 0;
                END
                """),
        SystemFunction(
            name: "restore_group", parameters: "p_group uuid", result: "bigint",
            body: groupBody(
                "Takes everything that was trashed together out of the trash; how many objects.",
                "UPDATE public.%I SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL "
                    + "WHERE trash_group = $1 AND trashed_at IS NOT NULL")),
        SystemFunction(
            name: "purge_group", parameters: "p_group uuid", result: "bigint",
            body: groupBody(
                "Deletes everything that was trashed together, for good; how many objects.",
                "DELETE FROM public.%I WHERE trash_group = $1 AND trashed_at IS NOT NULL")),
    ]

    private static func groupBody(_ comment: String, _ statement: String) -> String {
        """

        -- \(comment)
        DECLARE
            v_table text;
            v_count bigint;
            v_total bigint := 0;
        BEGIN
            FOR v_table IN SELECT c.table_name FROM tombolo.class c WHERE c.is_trashable ORDER BY c.id LOOP
                EXECUTE format('\(statement)', v_table) USING p_group;
                GET DIAGNOSTICS v_count = ROW_COUNT;
                v_total := v_total + v_count;
            END LOOP;
            RETURN v_total;
        END
        """
    }
}

/// The changelog is partitioned by ranges of its sequence. The next partition is opened by letting the sequence jump
/// to its range, so that the one in use has no end that it could reach and is never missing.
enum ChangelogPartition {
    /// Sequence numbers of one partition: more than a database can write in its life.
    static let width: Int64 = 1 << 40

    static func name(_ generation: Int64) -> String { "changelog_\(generation)" }
    static func range(_ generation: Int64) -> Range<Int64> { generation * width..<(generation + 1) * width }
}
