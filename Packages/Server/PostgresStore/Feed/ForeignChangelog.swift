internal import PostgresClient

/// A changelog that was dumped in one PostgreSQL cluster and restored in another.
///
/// Ticks and changes are ordered by transaction numbers, which belong to a cluster. If the changelog's numbers lie
/// below this cluster's next one, they look like its own past, and everything works. If they lie above, ticks would
/// count future transactions as seen although they never saw them, and no device would hear of those transactions.
enum ForeignChangelog {
    private static let name = "forget_foreign_changelog"

    /// What the elected sequencer does before its first tick, with the rights of the changelog's owner.
    static let function = SystemFunction(
        name: name, parameters: "", result: "boolean",
        body: """

            -- Empties the changelog if a tick or a change has a transaction number that this cluster has not given out yet;
            -- whether it did. One statement asks: its snapshot sees nothing from the number on that comes next in it, while
            -- writers that commit between two statements would look as if they came from another cluster.
            BEGIN
                IF (SELECT coalesce((SELECT pg_snapshot_xmax(t.snapshot) > n.next OR t.xid >= n.next
                            FROM tombolo.tick t ORDER BY t.number DESC LIMIT 1), false)
                        OR coalesce((SELECT c.xid >= n.next FROM tombolo.changelog c ORDER BY c.xid DESC LIMIT 1), false)
                    FROM (SELECT pg_snapshot_xmax(pg_current_snapshot()) AS next) AS n)
                THEN
                    TRUNCATE tombolo.tick, tombolo.changelog, tombolo.retention;
                    UPDATE tombolo.changelog_partition SET attached_xid = pg_current_xact_id();
                    RETURN true;
                END IF;
                RETURN false;
            END
            """)

    /// Empties the changelog if its transaction numbers are ahead of the cluster's. Only the elected sequencer calls
    /// it, before its first tick.
    /// - Returns: whether it emptied the changelog.
    static func remove(_ connection: PostgresConnection) async throws -> Bool {
        try await connection.query("SELECT tombolo.\(name)()")[0, 0].bool
    }
}
