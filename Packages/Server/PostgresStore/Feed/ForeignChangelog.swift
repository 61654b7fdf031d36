internal import PostgresClient

/// A changelog that was dumped in one PostgreSQL cluster and restored in another.
///
/// Ticks and changes are ordered by transaction numbers, which belong to the cluster. Where those of the changelog lie
/// behind this cluster's next one, they are like its own past, and everything goes on. Where they lie ahead, a
/// transaction to come would count as seen by ticks that never saw it, and no device would hear of it.
enum ForeignChangelog {
    /// Whether a tick or a change has a transaction number that this cluster has not given out yet.
    private static let isAhead = """
        SELECT coalesce((SELECT pg_snapshot_xmax(snapshot) FROM tombolo.tick ORDER BY number DESC LIMIT 1) > next, false) \
        OR coalesce((SELECT xid FROM tombolo.tick ORDER BY number DESC LIMIT 1) >= next, false) \
        OR coalesce((SELECT xid FROM tombolo.changelog ORDER BY xid DESC LIMIT 1) >= next, false) \
        FROM (SELECT pg_snapshot_xmax(pg_current_snapshot()) AS next) AS cluster
        """

    /// Empties the changelog, if it is ahead. Only the elected sequencer calls it, before its first tick.
    /// - Returns: whether it was.
    static func remove(_ connection: PostgresConnection) async throws -> Bool {
        guard try await connection.query(isAhead)[0, 0].bool else { return false }
        try await connection.execute(
            """
            BEGIN;
            TRUNCATE tombolo.tick, tombolo.changelog, tombolo.retention;
            UPDATE tombolo.changelog_partition SET attached_xid = pg_current_xact_id();
            COMMIT
            """)
        return true
    }
}
