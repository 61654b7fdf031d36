/// The changelog is partitioned by ranges of its sequence. The next partition goes into use when the sequence jumps
/// to its range. So the partition in use never reaches its end, and there is always one.
enum ChangelogPartition {
    /// Sequence numbers in one partition: more than a database can write in its lifetime.
    static let width: Int64 = 1 << 40

    static func name(_ generation: Int64) -> String { "changelog_\(generation)" }
    static func range(_ generation: Int64) -> Range<Int64> { generation * width..<(generation + 1) * width }

    /// How long a drop may wait for other transactions, and new ones behind it.
    static let dropTimeoutMilliseconds = 100
    /// The functions in `tombolo`.
    static let (attach, open, drop) = (
        "attach_changelog_partition", "open_changelog_partition", "drop_changelog_partition"
    )

    /// What retention does to partitions, with the rights of the changelog's owner. The gateway's role may call these
    /// functions and owns nothing itself: a table's owner can add triggers, which would run inside the functions of
    /// the changelog's triggers, and so with the rights of the owner of everything.
    static let functions: [SystemFunction] = [
        SystemFunction(
            name: attach, parameters: "p_generation bigint", result: "void",
            body: """

                -- Makes the partition after the one in use and attaches it. Waits for no reader and no writer.
                DECLARE
                    v_table text := format('tombolo.%I', 'changelog_' || p_generation);
                BEGIN
                \(requireNext)
                    EXECUTE format('CREATE TABLE IF NOT EXISTS %s (LIKE tombolo.changelog INCLUDING ALL)', v_table);
                    EXECUTE format('ALTER TABLE tombolo.changelog ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)',
                        v_table, p_generation * \(width), (p_generation + 1) * \(width));
                    INSERT INTO tombolo.changelog_partition (generation, attached_xid)
                    VALUES (p_generation, pg_current_xact_id())
                    ON CONFLICT (generation) DO UPDATE SET attached_xid = excluded.attached_xid;
                END
                """),
        SystemFunction(
            name: open, parameters: "p_generation bigint, p_now bigint", result: "void",
            body: """

                -- Lets the sequence jump to the partition after the one in use. Not transactional: from here on all writers
                -- use it.
                BEGIN
                \(requireNext)
                    IF NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = 'tombolo.changelog'::regclass
                        AND i.inhrelid = to_regclass(format('tombolo.%I', 'changelog_' || p_generation))) THEN
                        RAISE EXCEPTION 'partition % is not attached', p_generation
                            USING ERRCODE = 'object_not_in_prerequisite_state';
                    END IF;
                    UPDATE tombolo.changelog_partition SET opened_at = p_now WHERE generation = p_generation;
                    PERFORM setval('tombolo.changelog_seq', p_generation * \(width), true);
                END
                """),
        SystemFunction(
            name: drop, parameters: "p_generation bigint", result: "boolean",
            settings: " SET lock_timeout = '\(dropTimeoutMilliseconds)ms'",
            body: """

                -- Drops a partition that the floor has passed, attached or not; false where others hold the changelog for
                -- too long. Whoever comes meanwhile waits as long, at most.
                DECLARE
                    v_table text := 'changelog_' || p_generation;
                BEGIN
                    IF p_generation >= (SELECT last_value / \(width) FROM tombolo.changelog_seq) OR EXISTS (
                        SELECT 1 FROM pg_inherits i WHERE i.inhparent = 'tombolo.changelog'::regclass
                            AND i.inhrelid = to_regclass(format('tombolo.%I', v_table)) AND NOT i.inhdetachpending
                    ) AND NOT EXISTS (
                        SELECT 1 FROM tombolo.retention r WHERE r.first_seq >= (p_generation + 1) * \(width) - 1
                    ) THEN
                        RAISE EXCEPTION 'the changelog''s partition % is still needed', p_generation
                            USING ERRCODE = 'object_in_use';
                    END IF;
                    BEGIN
                        EXECUTE format('DROP TABLE IF EXISTS tombolo.%I', v_table);
                    EXCEPTION WHEN lock_not_available THEN
                        RETURN false;
                    END;
                    DELETE FROM tombolo.changelog_partition WHERE generation = p_generation;
                    RETURN true;
                END
                """),
    ]

    private static let requireNext = """
            IF p_generation <> (SELECT last_value / \(width) + 1 FROM tombolo.changelog_seq) THEN
                RAISE EXCEPTION 'partition % does not follow the one in use', p_generation
                    USING ERRCODE = 'object_not_in_prerequisite_state';
            END IF;
        """
}
