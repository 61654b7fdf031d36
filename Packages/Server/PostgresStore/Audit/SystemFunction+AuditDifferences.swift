/// The function that replays the audit log.
extension SystemFunction {
    static let differences = SystemFunction(
        name: "audit_differences", parameters: "p_class smallint, p_zeros jsonb, p_limit integer",
        result: "TABLE (key text, logged jsonb, stored jsonb)", settings: auditSettings,
        body: """

            -- Replays the audit log of a class from empty, and returns where it differs from the class's table. Leaves out
            -- objects that were changed since the log's position. Properties that objects got later have p_zeros until then.
            DECLARE
                v_secrets text[] := coalesce(\(secretColumns("p_class")), '{}');
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
