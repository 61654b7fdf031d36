public import PostgresClient
internal import TomboloChangesets

/// How far a server that caches results derived from rows has read the changelog. Before it uses a cached result, it
/// asks what was committed since. The answer is complete whether or not a sequencer makes ticks.
///
/// A cursor belongs to one connection, which must use ``settings``. When the connection ends, everything may have
/// changed, because the database may have been restored. If a database is restored while the connection stays open,
/// the cursor notices it by the changelog, which is then a different table.
public struct ChangelogCursor: Sendable {
    /// A changed row, or a changed list of an object.
    public struct Change: Sendable {
        /// Nil for a row that belongs to no class, such as a document.
        public let className: String?
        /// The object's key in the changelog's form; for a list element, the element's own key.
        public let key: String
        /// The result of the caller's `note` expression.
        public let note: String?
    }

    /// Settings for the connection. For a table without statistics, the planner assumes that a third of the rows lie
    /// beyond any bound, and would read the whole table.
    ///
    /// By default it would also plan each query anew, which takes longer than the query itself.
    public static let settings = "SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan"

    private let table: Int64
    /// The snapshot in PostgreSQL's own text form.
    private var snapshotText: String
    private var snapshot: Snapshot
    /// Every change that the snapshot doesn't see has a greater number. It saves searching old partitions.
    private var firstSequence: Int64

    private static let position = """
        pg_current_snapshot()::text, coalesce(to_regclass('tombolo.changelog')::oid::bigint, 0), \
        coalesce((SELECT first_seq FROM tombolo.tick ORDER BY number DESC LIMIT 1), -1)
        """

    /// Creates a cursor that has seen everything committed so far.
    public init(_ connection: PostgresConnection) async throws {
        let row = try await connection.query("SELECT \(Self.position)")[0]
        table = try row[1].int64
        snapshotText = try row[0].string
        snapshot = try Self.snapshot(snapshotText)
        firstSequence = try row[2].int64
    }

    /// Reads what was committed since the last call, in one snapshot.
    /// - Parameters:
    ///   - note: an SQL expression of type `text` about a change. It may use `l.key`, `l.root` (the key of the object
    ///     that has the list) and `c.name` (the class), and sees the rows in the same snapshot.
    ///   - limit: the most changes to list.
    /// - Returns: the changes in no particular order, or nil if there are more than `limit` or the database was
    ///   restored.
    public mutating func changes(
        _ connection: PostgresConnection, note: String, limit: Int
    ) async throws -> [Change]? {
        // The same snapshot means that nothing is new: every commit ends a transaction that this snapshot lists as
        // running or future.
        guard try await connection.query("SELECT pg_current_snapshot()::text")[0, 0].string != snapshotText else {
            return []
        }
        let rows = try await connection.query(
            """
            SELECT \(Self.position), l.key, c.name, \(note) FROM (VALUES (1)) AS one (x) LEFT JOIN (\
            SELECT \(BulkRow.classID(ofRow: "r")) AS class, k.key, r.root FROM tombolo.changelog AS r \
            CROSS JOIN LATERAL unnest(\(BulkRow.keys(ofRow: "r"))) AS k (key) \
            WHERE r.seq > $1 AND r.class <> \(SchemaIdentifiers.authorClass) AND (r.xid >= $2::xid8 OR r.xid = ANY ($3::xid8[])) LIMIT $4) AS l ON true \
            LEFT JOIN tombolo.class AS c ON c.id = l.class
            """,
            [
                .int64(firstSequence), .untyped(String(snapshot.xmax)), .untyped(snapshot.runningText),
                .int64(Int64(limit) + 1),
            ])
        guard try rows[0][1].int64 == table else { return nil }
        snapshotText = try rows[0][0].string
        snapshot = try Self.snapshot(snapshotText)
        firstSequence = max(firstSequence, try rows[0][2].int64)
        guard rows.count <= limit else { return nil }
        return try rows.compactMap { row in
            guard let key = try row[3].nonNull?.string else { return nil }
            return Change(className: try row[4].nonNull?.string, key: key, note: try row[5].nonNull?.string)
        }
    }

    private static func snapshot(_ text: String) throws -> Snapshot {
        guard let snapshot = Snapshot(text: text) else {
            throw PostgresStoreError(.corrupt, "PostgreSQL returned a snapshot that can't be read.")
        }
        return snapshot
    }
}
