/// A table, a sequence, an index, a view or a later column in `tombolo`, with everything that is created together
/// with it.
struct SystemRelation {
    let name: String
    let sql: String

    /// In the order of creation.
    static let all = tables + jobs + inspector + routines + backups + requests + AuditSchema.relations + locks

    private static let locks = ServiceLock.allCases.map { lock in
        SystemRelation(
            name: lock.rawValue,
            sql: """
                CREATE OR REPLACE VIEW tombolo.\(lock.rawValue) AS SELECT 1 AS locked;
                COMMENT ON VIEW tombolo.\(lock.rawValue) IS \
                'Holds nothing: the process that works locks it, see tombolo.\(ServiceLock.function).'
                """)
    }

    private static let tables: [SystemRelation] = [
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
            name: "class_column.sql_name",
            sql: """
                ALTER TABLE tombolo.class_column ADD COLUMN IF NOT EXISTS sql_name text COLLATE "C";
                COMMENT ON COLUMN tombolo.class_column.sql_name IS \
                'The column that has the property, by which a renamed one is found.'
                """),
        SystemRelation(
            name: "class_column.goes_along",
            sql: """
                ALTER TABLE tombolo.class_column ADD COLUMN IF NOT EXISTS goes_along boolean NOT NULL DEFAULT true;
                COMMENT ON COLUMN tombolo.class_column.goes_along IS \
                'Of a link: whether an object goes into the trash with the object that it links to.'
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
            name: "changelog.keys",
            sql: """
                ALTER TABLE tombolo.changelog ADD COLUMN IF NOT EXISTS keys text[] COLLATE "C";
                COMMENT ON COLUMN tombolo.changelog.keys IS \
                'The objects that one statement inserted, of a row whose class is below \(BulkRow.classNumber(of: 0)): \
                \(BulkRow.classNumber(of: 0)) less the number of their class.'
                """),
        SystemRelation(
            name: "changelog_erasures",
            sql: """
                CREATE INDEX IF NOT EXISTS changelog_erasures ON tombolo.changelog (class, seq) WHERE operation = 'e'
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
            name: "sequencer",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.sequencer (
                    id boolean PRIMARY KEY DEFAULT true CHECK (id),
                    epoch bigint NOT NULL
                );
                INSERT INTO tombolo.sequencer (epoch) VALUES (0) ON CONFLICT DO NOTHING;
                COMMENT ON COLUMN tombolo.sequencer.epoch IS \
                'Counts the elections of the sequencer. A tick is inserted only in the newest one.'
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
            name: "client_user",
            sql: """
                ALTER TABLE tombolo.client ADD COLUMN IF NOT EXISTS \
                seen_at timestamptz NOT NULL DEFAULT clock_timestamp();
                COMMENT ON COLUMN tombolo.client.seen_at IS \
                'The last session or upload, to the day at least. Not indexed: uploads write it.';
                CREATE INDEX IF NOT EXISTS client_user ON tombolo.client (user_id)
                """),
        SystemRelation(
            name: "receipt",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.receipt (
                    client bigint NOT NULL,
                    number bigint NOT NULL,
                    hash bigint NOT NULL,
                    refusals json,
                    acknowledged_at bigint,
                    PRIMARY KEY (client, number)
                )
                """),
        SystemRelation(
            name: "receipt_pending",
            sql: """
                ALTER TABLE tombolo.receipt ADD COLUMN IF NOT EXISTS acknowledged_at bigint;
                CREATE INDEX IF NOT EXISTS receipt_acknowledged_at ON tombolo.receipt (acknowledged_at) \
                WHERE acknowledged_at IS NOT NULL;
                CREATE INDEX IF NOT EXISTS receipt_pending ON tombolo.receipt (client, number) \
                WHERE acknowledged_at IS NULL
                """),
        SystemRelation(
            name: "receipt_refusals",
            sql: """
                -- One refusal for a changeset, in columns, became a list of them.
                DO $migration$ BEGIN
                    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'tombolo.receipt'::regclass
                        AND attname = 'code' AND NOT attisdropped) THEN
                        ALTER TABLE tombolo.receipt ADD COLUMN refusals json;
                        UPDATE tombolo.receipt SET refusals = json_build_array(json_strip_nulls(json_build_object(
                            'code', code, 'message', message, 'class', class, 'key', key))) WHERE code IS NOT NULL;
                        ALTER TABLE tombolo.receipt
                            DROP COLUMN code, DROP COLUMN message, DROP COLUMN class, DROP COLUMN key;
                    END IF;
                END $migration$;
                CREATE INDEX IF NOT EXISTS receipt_refusals ON tombolo.receipt (client, number) \
                WHERE acknowledged_at IS NULL AND refusals IS NOT NULL
                """),
        SystemRelation(
            name: "document",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.document (
                    version bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    app text COLLATE "C" NOT NULL,
                    kind text COLLATE "C" NOT NULL CHECK (kind IN ('models', 'rules')),
                    content text COLLATE "C" NOT NULL,
                    checksum text COLLATE "C" NOT NULL
                        CHECK (checksum = encode(sha256(convert_to(content, 'UTF8')), 'hex')),
                    added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                    added_by text NOT NULL DEFAULT current_user
                );
                CREATE INDEX IF NOT EXISTS document_app ON tombolo.document (app, kind, version);
                COMMENT ON TABLE tombolo.document IS
                'Models and rules: of each app and kind the row with the greatest version counts. Rows are only added.';
                CREATE OR REPLACE FUNCTION tombolo.log_document() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
                SET search_path = pg_catalog, pg_temp AS $function$
                BEGIN
                    IF TG_OP <> 'INSERT' THEN
                        RAISE EXCEPTION 'rows of tombolo.document are never changed'
                            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Add a newer one.';
                    END IF;
                    INSERT INTO tombolo.changelog (class, key, operation, stamp)
                    VALUES (\(SchemaIdentifiers.documentClass), NEW.version::text, 'c',
                        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
                    RETURN NULL;
                END
                $function$;
                REVOKE ALL ON FUNCTION tombolo.log_document() FROM PUBLIC;
                CREATE OR REPLACE TRIGGER tombolo_log AFTER INSERT OR UPDATE OR DELETE ON tombolo.document \
                FOR EACH ROW EXECUTE FUNCTION tombolo.log_document();
                ALTER TABLE tombolo.document ENABLE ALWAYS TRIGGER tombolo_log
                """),
        SystemRelation(
            name: "document.account",
            sql: """
                ALTER TABLE tombolo.document ADD COLUMN IF NOT EXISTS account text COLLATE "C";
                COMMENT ON COLUMN tombolo.document.account IS \
                'Who asked a server for it; nil for what tools and development mode added.'
                """),
        SystemRelation(
            name: "document.applied",
            sql: """
                ALTER TABLE tombolo.document ADD COLUMN IF NOT EXISTS applied text COLLATE "C",
                    ADD COLUMN IF NOT EXISTS note text COLLATE "C";
                COMMENT ON COLUMN tombolo.document.applied IS \
                'Rules as a tool got them, where the content also has what was changed in an admin server before; nil for \
                the content itself.';
                COMMENT ON COLUMN tombolo.document.note IS \
                'What a tool kept or dropped of changes that were made in an admin server.'
                """),
        SystemRelation(
            name: "readable",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.readable (
                    fingerprint bigint NOT NULL,
                    class text COLLATE "C" NOT NULL,
                    predicate bytea NOT NULL,
                    kept_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                    PRIMARY KEY (fingerprint, class)
                );
                CREATE INDEX IF NOT EXISTS readable_kept_at ON tombolo.readable (kept_at);
                COMMENT ON TABLE tombolo.readable IS \
                'What users could read under a rules fingerprint, for devices that come back after the rules changed; \
                the empty class stands for everything else, of which they could read nothing.'
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
        SystemRelation(
            name: "trash_retention",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.trash_retention (
                    class text COLLATE "C" PRIMARY KEY,
                    days integer CHECK (days >= 0)
                );
                COMMENT ON TABLE tombolo.trash_retention IS \
                'How many days objects of a class stay in the trash, NULL for ever; the empty class stands for all others. \
                Without a row it is 30 days.'
                """),
        SystemRelation(
            name: "trash_run",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.trash_run (
                    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    started_at timestamptz NOT NULL,
                    finished_at timestamptz,
                    groups bigint NOT NULL DEFAULT 0,
                    objects bigint NOT NULL DEFAULT 0,
                    kept bigint NOT NULL DEFAULT 0,
                    failed bigint NOT NULL DEFAULT 0,
                    problem text
                );
                COMMENT ON TABLE tombolo.trash_run IS \
                'The newest runs of the automatic purge. A group is counted in the transaction that deletes it.'
                """),
        SystemRelation(
            name: "trash_kept",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.trash_kept (
                    address text COLLATE "C" PRIMARY KEY,
                    class text COLLATE "C" NOT NULL,
                    key text COLLATE "C" NOT NULL,
                    reason text NOT NULL,
                    is_failure boolean NOT NULL,
                    attempts integer NOT NULL DEFAULT 1,
                    first_at timestamptz NOT NULL,
                    last_at timestamptz NOT NULL,
                    next_at timestamptz NOT NULL
                );
                COMMENT ON TABLE tombolo.trash_kept IS \
                'What the automatic purge would have deleted and did not, with the object that keeps its group and why.'
                """),
    ]
}
