/// Functions that fill the audit log. They run as its owner, so that nobody else needs a right to write it.
extension SystemFunction {
    /// What ``audit`` functions answer when there is nothing to count.
    enum AuditAnswer {
        /// Everything is copied.
        static let idle: Int64 = -1
        /// Another session is at it, or something else has to come first.
        static let busy: Int64 = -2
    }

    private static let settings = " SET enable_seqscan = off SET jit = off SET timezone = 'UTC'"

    static let audit: [SystemFunction] = [author, month, copy, baseline, expire, differences]

    /// Rows of the changelog beyond the tick `v_base`, up to the tick `v_goal`.
    private static func isNew(_ row: String) -> String {
        """
        \(row).seq > greatest(v_base.first_seq, coalesce(v_position.after_seq, -1)) \
        AND (\(row).xid >= pg_snapshot_xmax(v_base.snapshot) OR \(row).xid = ANY (v_running)) \
        AND pg_visible_in_snapshot(\(row).xid, v_goal.snapshot) \
        AND \(row).class NOT IN (\(SchemaIdentifiers.progressClass), \(SchemaIdentifiers.authorClass))
        """
    }

    /// A changelog row's old values by the columns' numbers.
    private static func before(_ row: String) -> String {
        """
        (SELECT jsonb_object_agg(u.id::text, u.value) FROM unnest(\(row).columns, \(row).old) AS u (id, value) \
        WHERE u.id IS NOT NULL)
        """
    }

    /// SQL for the secret columns of a class; NULL if it has none.
    private static func secrets(_ classID: String) -> String {
        "(SELECT array_agg(s.id::text) FROM tombolo.class_column s WHERE s.class = \(classID) AND s.is_secret)"
    }

    private static let author = SystemFunction(
        name: "name_author", parameters: "p_kind text, p_user text, p_address text, p_route text", result: "void",
        settings: settings,
        body: """

            -- Says for the audit log who makes the changes of this transaction. Says nothing if it made none.
            BEGIN
                IF pg_current_xact_id_if_assigned() IS NULL OR NOT EXISTS (
                    SELECT FROM tombolo.changelog c WHERE c.xid = pg_current_xact_id()) THEN
                    RETURN;
                END IF;
                INSERT INTO tombolo.changelog (class, key, operation, stamp, marks)
                VALUES (\(SchemaIdentifiers.authorClass), pg_current_xact_id()::text, 'c',
                    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
                    jsonb_strip_nulls(jsonb_build_object('kind', left(p_kind, \(AuditSchema.authorByteCount)),
                        'user', left(p_user, \(AuditSchema.authorByteCount)),
                        'address', left(p_address, \(AuditSchema.authorByteCount)),
                        'route', left(p_route, \(AuditSchema.authorByteCount))))::text);
            END
            """)

    private static let month = SystemFunction(
        name: "open_audit_months", parameters: "p_from timestamptz, p_to timestamptz", result: "void",
        settings: settings,
        body: """

            -- Makes the partitions of the audit log between two times, where they are missing.
            DECLARE
                v_month timestamptz;
                v_name text;
            BEGIN
                FOR v_month IN SELECT generate_series(date_trunc('month', p_from), p_to, interval '1 month') LOOP
                    v_name := 'audit_entry_' || to_char(v_month, 'YYYY_MM');
                    CONTINUE WHEN to_regclass(format('tombolo.%I', v_name)) IS NOT NULL;
                    EXECUTE format('CREATE TABLE tombolo.%I (LIKE tombolo.audit_entry INCLUDING ALL)', v_name);
                    EXECUTE format('ALTER TABLE tombolo.audit_entry ATTACH PARTITION tombolo.%I FOR VALUES FROM (%L) TO (%L)',
                        v_name, v_month, v_month + interval '1 month');
                END LOOP;
            END
            """)

    private static let copy = SystemFunction(
        name: "audit_copy", parameters: "p_limit integer", result: "bigint", settings: settings,
        body: """

            -- Copies the next changes into the audit log, and moves its position in the same transaction. Returns how many
            -- entries came of them; \(AuditAnswer.idle) if there is nothing new, \(AuditAnswer.busy) if another session is at it.
            DECLARE
                v_position tombolo.audit_position%ROWTYPE;
                v_base tombolo.tick%ROWTYPE;
                v_goal tombolo.tick%ROWTYPE;
                v_running xid8[];
                v_number bigint;
                v_count bigint;
                v_last bigint;
                v_classes smallint[];
                v_images text;
                v_first timestamptz;
                v_at timestamptz;
            BEGIN
                SELECT * INTO v_position FROM tombolo.audit_position FOR UPDATE SKIP LOCKED;
                IF NOT FOUND THEN
                    RETURN \(AuditAnswer.busy);
                END IF;
                SELECT * INTO v_base FROM tombolo.tick t
                WHERE t.number = v_position.tick AND t.token = v_position.token;
                IF NOT FOUND THEN
                    -- The beginning; or the tick has gone, and with it what is known of changes since.
                    SELECT * INTO v_goal FROM tombolo.tick t ORDER BY t.number DESC LIMIT 1;
                    IF NOT FOUND THEN
                        RETURN \(AuditAnswer.idle);
                    END IF;
                    v_at := greatest(v_position.at, to_timestamp(v_goal.time / 1000000.0));
                    PERFORM tombolo.open_audit_months(v_at, v_at);
                    INSERT INTO tombolo.audit_entry (id, at, tick, class, key, operation, source, stamp, before, after)
                    VALUES (v_position.last_id + 1, v_at, v_goal.number, \(AuditSchema.logClass), '', 'g', 'y', v_goal.time,
                        CASE WHEN v_position.tick IS NOT NULL THEN jsonb_build_object('tick', v_position.tick) END,
                        jsonb_build_object('tick', v_goal.number));
                    UPDATE tombolo.audit_position SET tick = v_goal.number, token = v_goal.token, goal = NULL,
                        after_seq = NULL, last_id = last_id + 1, at = v_at;
                    DELETE FROM tombolo.audit_baseline;
                    RETURN 1;
                END IF;

                -- The tick to go to: as far as the changes until then are no more than asked for, the next one at least.
                v_running := ARRAY(SELECT pg_snapshot_xip(v_base.snapshot));
                v_number := v_position.goal;
                IF v_number IS NULL THEN
                    SELECT max(n.number) INTO v_number FROM (SELECT t.number FROM tombolo.tick t
                        WHERE t.number > v_base.number ORDER BY t.number LIMIT \(tickLimit)) AS n;
                END IF;
                IF v_number IS NULL THEN
                    RETURN \(AuditAnswer.idle);
                END IF;
                LOOP
                    SELECT * INTO v_goal FROM tombolo.tick t WHERE t.number = v_number;
                    SELECT count(*), max(c.seq) FILTER (WHERE c.place <= p_limit), array_agg(DISTINCT c.class)
                    INTO v_count, v_last, v_classes FROM (
                        SELECT c.seq, \(BulkRow.classID(ofRow: "c")) AS class, row_number() OVER (ORDER BY c.seq) AS place
                        FROM tombolo.changelog c WHERE \(isNew("c")) ORDER BY c.seq LIMIT p_limit + 1) AS c;
                    EXIT WHEN v_count <= p_limit OR v_position.goal IS NOT NULL;
                    SELECT max(t.number) INTO v_number FROM tombolo.tick t WHERE t.number > v_base.number
                        AND t.number <= v_base.number + (v_goal.number - v_base.number) / 2;
                    EXIT WHEN v_number IS NULL;
                END LOOP;

                IF v_count > 0 THEN
                    SELECT greatest(v_position.at, to_timestamp(min(t.time) / 1000000.0)) INTO v_first
                    FROM tombolo.tick t WHERE t.number > v_base.number AND t.number <= v_goal.number;
                    v_at := greatest(v_first, to_timestamp(v_goal.time / 1000000.0));
                    PERFORM tombolo.open_audit_months(v_first, v_at);
                    SELECT coalesce(string_agg(format(
                        'SELECT %s::smallint AS class, i.key, i.image FROM tombolo.%I(ARRAY('
                            'SELECT o.key FROM objects o WHERE o.class = %s)) AS i', c, 'image_' || c, c), ' UNION ALL '),
                        'SELECT 0::smallint AS class, NULL::text AS key, NULL::jsonb AS image WHERE false')
                    INTO v_images FROM unnest(v_classes) AS c
                    WHERE c > 0 AND to_regprocedure(format('tombolo.%I(text[])', 'image_' || c)) IS NOT NULL;
                    EXECUTE format($statement$\(statement)$statement$, v_images)
                    USING greatest(v_base.first_seq, coalesce(v_position.after_seq, -1)), v_last,
                        pg_snapshot_xmax(v_base.snapshot), v_running, v_goal.snapshot, v_base.number, v_goal.number,
                        v_position.last_id, v_position.at;
                    GET DIAGNOSTICS v_number = ROW_COUNT;
                ELSE
                    v_number := 0;
                    v_at := v_position.at;
                END IF;
                UPDATE tombolo.audit_position SET last_id = last_id + v_number, at = v_at,
                    tick = CASE WHEN v_count > p_limit THEN tick ELSE v_goal.number END,
                    token = CASE WHEN v_count > p_limit THEN token ELSE v_goal.token END,
                    goal = CASE WHEN v_count > p_limit THEN v_goal.number END,
                    after_seq = CASE WHEN v_count > p_limit THEN v_last END;
                RETURN v_number;
            END
            """)

    /// Ticks that one call of `audit_copy` goes through.
    private static let tickLimit = 200

    /// Everything in one statement, and so in one snapshot: the values after a change are the old ones of the object's next
    /// change, or else the ones that its row has.
    private static let statement = """

        WITH batch AS MATERIALIZED (
            SELECT c.seq, k.place, c.xid, \(BulkRow.classID(ofRow: "c")) AS class, k.key, c.root, c.operation, c.stamp,
                c.client, c.number, c.role, c.marks
            FROM tombolo.changelog c
            CROSS JOIN LATERAL unnest(\(BulkRow.keys(ofRow: "c"))) WITH ORDINALITY AS k (key, place)
            WHERE c.seq > $1 AND c.seq <= $2 AND (c.xid >= $3 OR c.xid = ANY ($4))
                AND pg_visible_in_snapshot(c.xid, $5)
                AND c.class NOT IN (\(SchemaIdentifiers.progressClass), \(SchemaIdentifiers.authorClass))
        ), transactions AS MATERIALIZED (
            SELECT x.xid, t.number AS tick, t.time, a.marks::jsonb AS author
            FROM (SELECT DISTINCT b.xid FROM batch b) AS x
            CROSS JOIN LATERAL (
                SELECT t.number, t.time FROM tombolo.tick t WHERE t.number > $6 AND t.number <= $7
                    AND pg_visible_in_snapshot(x.xid, t.snapshot) ORDER BY t.number LIMIT 1) AS t
            LEFT JOIN LATERAL (
                SELECT c.marks FROM tombolo.changelog c WHERE c.class = \(SchemaIdentifiers.authorClass)
                    AND c.key = x.xid::text AND c.xid = x.xid ORDER BY c.seq DESC LIMIT 1) AS a ON true
        ), objects AS MATERIALIZED (
            SELECT b.class, b.key, min(b.seq) AS seq FROM batch b WHERE b.class > 0 GROUP BY b.class, b.key
        ), images AS MATERIALIZED (
            %s
        ), secrets AS MATERIALIZED (
            SELECT s.class, array_agg(s.id::text) AS ids FROM tombolo.class_column s WHERE s.is_secret GROUP BY s.class
        ), events AS (
            SELECT o.class, o.key, c.seq, \(before("c")) AS before FROM objects o CROSS JOIN LATERAL (
                SELECT c.seq, c.columns, c.old FROM tombolo.changelog c
                WHERE c.class = o.class AND c.key = o.key AND c.seq >= o.seq AND c.operation <> 'c' OFFSET 0) AS c
            UNION ALL
            SELECT b.class, b.key, b.seq, NULL FROM batch b WHERE b.class > 0 AND b.operation = 'c'
        ), folded AS (
            SELECT e.class, e.key, e.seq, e.before, coalesce(tombolo.audit_fold(e.before) OVER (
                PARTITION BY e.class, e.key ORDER BY e.seq DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), '{}') AS later
            FROM events e
        ), changed AS (
            SELECT b.*, t.tick, t.time, t.author, f.before, coalesce(i.image, '{}') || f.later AS state, s.ids AS secrets,
                CASE WHEN b.class = \(SchemaIdentifiers.accountClass) THEN b.marks::jsonb END AS facts
            FROM batch b JOIN transactions t ON t.xid = b.xid
            LEFT JOIN folded f ON f.class = b.class AND f.key = b.key AND f.seq = b.seq
            LEFT JOIN images i ON i.class = b.class AND i.key = b.key
            LEFT JOIN secrets s ON s.class = b.class
        )
        INSERT INTO tombolo.audit_entry (id, at, tick, class, key, root, operation, source, stamp, xid, user_id, client,
            number, role, address, route, before, after, secret)
        SELECT $8 + row_number() OVER (ORDER BY c.tick, c.seq, c.place),
            greatest($9, to_timestamp(c.time / 1000000.0)), c.tick, c.class, c.key, coalesce(c.root, c.facts ->> 'table'),
            c.operation,
            CASE WHEN c.client IS NOT NULL THEN 's' WHEN c.author ->> 'kind' = 'http' THEN 'h'
                WHEN c.author ->> 'kind' = 'system' THEN 'y' ELSE 'q' END,
            c.stamp, c.xid,
            CASE WHEN c.client IS NOT NULL THEN (SELECT k.user_id FROM tombolo.client k WHERE k.id = c.client)
                ELSE coalesce(c.author ->> 'user', d.account) END,
            c.client, c.number, coalesce(d.added_by, c.role), c.author ->> 'address', c.author ->> 'route',
            CASE WHEN c.class > 0 THEN c.before - coalesce(c.secrets, '{}') ELSE c.facts -> 'before' END,
            CASE WHEN c.class > 0 THEN CASE c.operation
                    WHEN 'c' THEN c.state - coalesce(c.secrets, '{}')
                    WHEN 'u' THEN coalesce((SELECT jsonb_object_agg(k.k, c.state -> k.k)
                        FROM jsonb_object_keys(c.before - coalesce(c.secrets, '{}')) AS k (k)), '{}') END
                WHEN d.version IS NOT NULL THEN jsonb_build_object('app', d.app, 'kind', d.kind, 'checksum', d.checksum)
                ELSE c.facts -> 'after' END,
            CASE WHEN c.secrets IS NOT NULL THEN (SELECT array_agg(k.k) FROM
                jsonb_object_keys(CASE c.operation WHEN 'c' THEN c.state ELSE c.before END) AS k (k)
                WHERE k.k = ANY (c.secrets)) END
        FROM changed c
        LEFT JOIN LATERAL (SELECT * FROM tombolo.document d
            WHERE c.class = \(SchemaIdentifiers.documentClass) AND d.version::text = c.key) AS d ON true
        """

    private static let baseline = SystemFunction(
        name: "audit_baseline", parameters: "p_limit integer", result: "bigint", settings: settings,
        body: """

            -- Adds the next of the objects that were there when the audit log began, as they were at its position. Returns
            -- how many; \(AuditAnswer.idle) if it has all, \(AuditAnswer.busy) if it has to copy changes before, or another session is at it.
            DECLARE
                v_position tombolo.audit_position%ROWTYPE;
                v_base tombolo.tick%ROWTYPE;
                v_class tombolo.audit_baseline%ROWTYPE;
                v_keys text[];
                v_count bigint;
                v_gap bigint;
                v_at timestamptz;
            BEGIN
                SELECT * INTO v_position FROM tombolo.audit_position FOR UPDATE SKIP LOCKED;
                IF NOT FOUND OR v_position.goal IS NOT NULL THEN
                    RETURN \(AuditAnswer.busy);
                END IF;
                SELECT * INTO v_base FROM tombolo.tick t
                WHERE t.number = v_position.tick AND t.token = v_position.token;
                IF NOT FOUND THEN
                    RETURN \(AuditAnswer.busy);
                END IF;
                INSERT INTO tombolo.audit_baseline (class) SELECT c.id FROM tombolo.class c
                WHERE to_regprocedure(format('tombolo.%I(text, integer)', 'image_keys_' || c.id)) IS NOT NULL
                ON CONFLICT DO NOTHING;
                SELECT * INTO v_class FROM tombolo.audit_baseline b WHERE NOT b.is_done ORDER BY b.class LIMIT 1;
                IF NOT FOUND THEN
                    RETURN \(AuditAnswer.idle);
                END IF;
                EXECUTE format('SELECT array_agg(k) FROM tombolo.%I($1, $2) AS k', 'image_keys_' || v_class.class)
                    INTO v_keys USING v_class.last_key, p_limit;
                v_count := 0;
                v_at := greatest(v_position.at, to_timestamp(v_base.time / 1000000.0));
                IF v_keys IS NOT NULL THEN
                    PERFORM tombolo.open_audit_months(v_at, v_at);
                    SELECT max(e.id) INTO v_gap FROM tombolo.audit_entry e
                    WHERE e.class = \(AuditSchema.logClass) AND e.key = '';
                    EXECUTE format($statement$
                        INSERT INTO tombolo.audit_entry (id, at, tick, class, key, root, operation, source, stamp, after,
                            secret)
                        SELECT $1 + row_number() OVER (ORDER BY k.place), $2, $3, $4, k.key, i.root, 'b', 'y', $5,
                            (coalesce(i.image, '{}') || l.later) - coalesce(s.ids, '{}'), s.ids
                        FROM unnest($6) WITH ORDINALITY AS k (key, place)
                        LEFT JOIN tombolo.%I($6) AS i ON i.key = k.key
                        CROSS JOIN (SELECT \(secrets("$4")) AS ids) AS s
                        CROSS JOIN LATERAL (
                            SELECT coalesce(tombolo.audit_fold(c.before ORDER BY c.seq DESC), '{}') AS later,
                                (array_agg(c.operation ORDER BY c.seq))[1] AS first
                            FROM (SELECT c.seq, c.operation, \(before("c")) AS before FROM tombolo.changelog c
                                WHERE c.class = $4 AND c.key = k.key AND c.seq > $7
                                    AND NOT pg_visible_in_snapshot(c.xid, $8) OFFSET 0) AS c) AS l
                        WHERE l.first IS DISTINCT FROM 'c' AND (i.key IS NOT NULL OR l.later <> '{}')
                            -- One that was made since is in the log.
                            AND NOT EXISTS (SELECT FROM tombolo.audit_entry e WHERE e.class = $4 AND e.key = k.key
                                AND e.operation IN ('b', 'c') AND e.id > $9)
                        $statement$, 'image_' || v_class.class)
                    USING v_position.last_id, v_at, v_base.number, v_class.class, v_base.time, v_keys, v_base.first_seq,
                        v_base.snapshot, v_gap;
                    GET DIAGNOSTICS v_count = ROW_COUNT;
                    UPDATE tombolo.audit_position SET last_id = last_id + v_count, at = v_at;
                END IF;
                UPDATE tombolo.audit_baseline SET last_key = coalesce(v_keys[cardinality(v_keys)], last_key),
                    is_done = coalesce(cardinality(v_keys), 0) < p_limit WHERE class = v_class.class;
                RETURN v_count;
            END
            """)

    private static let expire = SystemFunction(
        name: "audit_expire", parameters: "", result: "bigint",
        settings: settings + " SET lock_timeout = '\(ChangelogPartition.dropTimeoutMilliseconds)ms'",
        body: """

            -- Drops the months of the audit log that tombolo.audit_retention doesn't keep, and returns how many.
            DECLARE
                v_until timestamptz;
                v_month record;
                v_count bigint := 0;
            BEGIN
                SELECT date_trunc('month', clock_timestamp()) - make_interval(months => r.months) INTO v_until
                FROM tombolo.audit_retention r;
                IF v_until IS NULL THEN
                    RETURN 0;
                END IF;
                FOR v_month IN SELECT c.relname, to_timestamp(right(c.relname, 7), 'YYYY_MM') + interval '1 month' AS ends
                    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                    WHERE i.inhparent = 'tombolo.audit_entry'::regclass ORDER BY 1
                LOOP
                    CONTINUE WHEN v_month.ends > v_until;
                    EXECUTE format('DROP TABLE tombolo.%I', v_month.relname);
                    UPDATE tombolo.audit_position SET expired_to = greatest(expired_to, v_month.ends);
                    v_count := v_count + 1;
                END LOOP;
                RETURN v_count;
            END
            """)

    private static let differences = SystemFunction(
        name: "audit_differences", parameters: "p_class smallint, p_zeros jsonb, p_limit integer",
        result: "TABLE (key text, logged jsonb, stored jsonb)", settings: settings,
        body: """

            -- Replays the audit log of a class from empty, and returns where it differs from the class's table. Leaves out
            -- objects that were changed since the log's position. Properties that objects got later have p_zeros until then.
            DECLARE
                v_secrets text[] := coalesce(\(secrets("p_class")), '{}');
                v_base tombolo.tick%ROWTYPE;
            BEGIN
                SELECT t.* INTO v_base FROM tombolo.audit_position p
                JOIN tombolo.tick t ON t.number = p.tick AND t.token = p.token;
                RETURN QUERY EXECUTE format($statement$
                    WITH gap AS (SELECT e.at, e.id FROM tombolo.audit_entry e
                        WHERE e.class = \(AuditSchema.logClass) AND e.key = '' ORDER BY e.at DESC, e.id DESC LIMIT 1),
                    replayed AS (SELECT e.key, tombolo.audit_replay(e.operation, e.after ORDER BY e.at, e.id) AS state
                        FROM tombolo.audit_entry e, gap WHERE e.class = $1 AND (e.at, e.id) > (gap.at, gap.id)
                        GROUP BY e.key),
                    present AS MATERIALIZED (SELECT i.key, i.image - $3 AS image
                        FROM tombolo.%I(ARRAY(SELECT k FROM tombolo.%I(NULL, NULL) AS k)) AS i),
                    stale AS MATERIALIZED (
                        SELECT k.key FROM tombolo.changelog c CROSS JOIN LATERAL unnest(\(BulkRow.keys(ofRow: "c"))) AS k (key)
                        WHERE \(BulkRow.classID(ofRow: "c")) = $1 AND c.seq > $4 AND NOT pg_visible_in_snapshot(c.xid, $5))
                    SELECT coalesce(l.key, r.key), l.state, r.image
                    FROM (SELECT p.key, ($2 - $3) || p.state AS state FROM replayed p WHERE p.state IS NOT NULL) AS l
                    FULL JOIN present r ON r.key = l.key
                    WHERE l.state IS DISTINCT FROM r.image
                        AND NOT EXISTS (SELECT FROM stale s WHERE s.key = coalesce(l.key, r.key))
                    ORDER BY 1 LIMIT $6
                    $statement$, 'image_' || p_class, 'image_keys_' || p_class)
                USING p_class, p_zeros, v_secrets, v_base.first_seq, v_base.snapshot, p_limit;
            END
            """)
}
