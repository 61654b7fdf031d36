/// The function that copies the changelog into the audit log.
extension SystemFunction {
    static let copy = SystemFunction(
        name: "audit_copy", parameters: "p_limit integer", result: "bigint", settings: auditSettings,
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
                        FROM tombolo.changelog c WHERE \(isUnlogged("c")) ORDER BY c.seq LIMIT p_limit + 1) AS c;
                    EXIT WHEN v_count <= p_limit OR v_position.goal IS NOT NULL;
                    SELECT max(t.number) INTO v_number FROM tombolo.tick t WHERE t.number > v_base.number
                        AND t.number <= v_base.number + (v_goal.number - v_base.number) / 2;
                    EXIT WHEN v_number IS NULL;
                END LOOP;

                IF v_count > 0 THEN
                    v_at := greatest(v_position.at, to_timestamp(v_goal.time / 1000000.0));
                    -- Of a clock that was set ahead by years, only the months that have entries.
                    PERFORM tombolo.open_audit_months(m.at, m.at) FROM (
                        SELECT DISTINCT date_trunc('month', greatest(v_position.at, to_timestamp(t.time / 1000000.0))) AS at
                        FROM tombolo.tick t WHERE t.number > v_base.number AND t.number <= v_goal.number) AS m;
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

    /// Ticks that one call of `audit_copy` covers.
    private static let tickLimit = 200

    /// One statement, and so one snapshot: the values after a change are the old values of the object's next change
    /// or, if there is none, the values of its row.
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
        ), addresses AS MATERIALIZED (
            SELECT x.xid, p.client, p.address
            FROM (SELECT DISTINCT b.xid FROM batch b WHERE b.client IS NOT NULL) AS x
            CROSS JOIN LATERAL (
                -- By the transaction: of a device alone there are many.
                SELECT DISTINCT ON (c.client) c.client, c.root AS address FROM tombolo.changelog c
                WHERE c.xid = x.xid AND c.class + 0 = \(SchemaIdentifiers.progressClass) AND c.root IS NOT NULL
                ORDER BY c.client, c.seq) AS p
        ), objects AS MATERIALIZED (
            SELECT b.class, b.key, min(b.seq) AS seq FROM batch b WHERE b.class > 0 GROUP BY b.class, b.key
        ), images AS MATERIALIZED (
            %s
        ), secrets AS MATERIALIZED (
            SELECT s.class, array_agg(s.id::text) AS ids FROM tombolo.class_column s WHERE s.is_secret GROUP BY s.class
        ), events AS (
            SELECT o.class, o.key, c.seq, \(loggedBefore("c")) AS before FROM objects o CROSS JOIN LATERAL (
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
            SELECT b.*, t.tick, t.time, t.author, a.address, f.before, coalesce(i.image, '{}') || f.later AS state, s.ids AS secrets,
                CASE WHEN b.class = \(SchemaIdentifiers.accountClass) THEN b.marks::jsonb END AS facts
            FROM batch b JOIN transactions t ON t.xid = b.xid
            LEFT JOIN addresses a ON a.xid = b.xid AND a.client = b.client
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
                ELSE coalesce(c.author -> 'users' -> c.key ->> 'user', c.author ->> 'user', d.account) END,
            c.client, c.number, coalesce(d.added_by, c.role),
            coalesce(c.address, c.author -> 'users' -> c.key ->> 'address', c.author ->> 'address'),
            c.author ->> 'route',
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
}
