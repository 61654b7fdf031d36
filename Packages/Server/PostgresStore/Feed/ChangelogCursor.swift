public import PostgresClient
internal import TomboloChangesets

/// How much of the changelog a server has seen that keeps what it made of rows: before it uses something, it asks what
/// was committed since. The answer is complete whether or not anybody makes ticks.
///
/// A cursor belongs to one connection, which has ``settings``: with the connection's end, everything may have changed, for
/// the database may have been restored. One that was restored under an open connection is noticed by its changelog, which
/// is another table then.
public struct ChangelogCursor: Sendable {
    /// A row that was changed, or a list of an object.
    public struct Change: Sendable {
        /// Nil for a row of no class, such as a document.
        public let className: String?
        /// The object's key as the changelog has it; of an element of a list its own.
        public let key: String
        /// What was asked for besides.
        public let note: String?
    }

    /// For the connection: the planner thinks that a third of a table without statistics lies beyond any bound, and would
    /// read it all.
    ///
    /// Left to itself, it also makes a plan for each question, which takes longer than the answer.
    public static let settings = "SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan"

    private let table: Int64
    /// As PostgreSQL writes it.
    private var snapshotText: String
    private var snapshot: Snapshot
    /// Every change that the snapshot does not see has a greater number. It spares looking into old partitions.
    private var firstSequence: Int64

    private static let position = """
        pg_current_snapshot()::text, coalesce(to_regclass('tombolo.changelog')::oid::bigint, 0), \
        coalesce((SELECT first_seq FROM tombolo.tick ORDER BY number DESC LIMIT 1), -1)
        """

    /// A cursor that has seen everything that is committed now.
    public init(_ connection: PostgresConnection) async throws {
        let row = try await connection.query("SELECT \(Self.position)")[0]
        table = try row[1].int64
        snapshotText = try row[0].string
        snapshot = try Self.snapshot(snapshotText)
        firstSequence = try row[2].int64
    }

    /// Looks up what was committed since the last time, all in one snapshot.
    /// - Parameters:
    ///   - note: SQL of type `text` about a change: it may use `l.key`, `l.root` (the key of the object that has the list)
    ///     and `c.name` (the class), and sees the rows as of the same snapshot.
    ///   - limit: the most changes that are worth listing.
    /// - Returns: the changes, in no order; nil if there are more, or if the database was restored.
    public mutating func changes(
        _ connection: PostgresConnection, note: String, limit: Int
    ) async throws -> [Change]? {
        // In the same snapshot there is nothing new: whatever commits ends a transaction that it has as running, or to come.
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
            throw PostgresStoreError(.corrupt, "PostgreSQL returned a snapshot that is not readable.")
        }
        return snapshot
    }
}
