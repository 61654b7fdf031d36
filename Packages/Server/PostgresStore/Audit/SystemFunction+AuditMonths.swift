/// Functions that create the audit log's monthly partitions and drop them.
extension SystemFunction {
    static let month = SystemFunction(
        name: "open_audit_months", parameters: "p_from timestamptz, p_to timestamptz", result: "void",
        settings: auditSettings,
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

    static let expire = SystemFunction(
        name: "audit_expire", parameters: "", result: "bigint",
        settings: auditSettings + " SET lock_timeout = '\(ChangelogPartition.dropTimeoutMilliseconds)ms'",
        body: """

            -- Drops the months of the audit log that tombolo.audit_retention doesn't keep, and returns how many. Those that
            -- others hold for too long stay until next time; an error if that's all of them.
            DECLARE
                v_until timestamptz;
                v_month record;
                v_busy text;
                v_count bigint := 0;
            BEGIN
                SELECT date_trunc('month', clock_timestamp()) - make_interval(months => r.months) INTO v_until
                FROM tombolo.audit_retention r;
                IF v_until IS NULL THEN
                    RETURN 0;
                END IF;
                -- Years have four digits or more.
                FOR v_month IN SELECT c.relname,
                        to_timestamp(substr(c.relname, length('audit_entry_') + 1), 'YYYY_MM') + interval '1 month' AS ends
                    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                    WHERE i.inhparent = 'tombolo.audit_entry'::regclass ORDER BY 1
                LOOP
                    CONTINUE WHEN v_month.ends > v_until;
                    BEGIN
                        -- This row is locked before the month, as by those who copy into the log.
                        UPDATE tombolo.audit_position SET expired_to = greatest(expired_to, v_month.ends);
                        EXECUTE format('DROP TABLE tombolo.%I', v_month.relname);
                    EXCEPTION WHEN lock_not_available THEN
                        v_busy := v_month.relname;
                        CONTINUE;
                    END;
                    v_count := v_count + 1;
                END LOOP;
                IF v_count = 0 AND v_busy IS NOT NULL THEN
                    RAISE EXCEPTION 'others hold the audit log''s month % for too long', v_busy
                        USING ERRCODE = 'lock_not_available';
                END IF;
                RETURN v_count;
            END
            """)
}
