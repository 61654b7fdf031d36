/// The function that adds objects that existed before the audit log.
extension SystemFunction {
    static let baseline = SystemFunction(
        name: "audit_baseline", parameters: "p_limit integer", result: "bigint", settings: auditSettings,
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
                        CROSS JOIN (SELECT \(secretColumns("$4")) AS ids) AS s
                        CROSS JOIN LATERAL (
                            SELECT coalesce(tombolo.audit_fold(c.before ORDER BY c.seq DESC), '{}') AS later,
                                (array_agg(c.operation ORDER BY c.seq))[1] AS first
                            FROM (SELECT c.seq, c.operation, \(loggedBefore("c")) AS before FROM tombolo.changelog c
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
}
