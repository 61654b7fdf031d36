internal import PostgresClient
internal import TomboloChangesets

/// A tick with what its row says besides.
struct StoredTick: Sendable {
    let tick: Tick
    /// Names the snapshot for `SET TRANSACTION SNAPSHOT`, as long as the sequencer keeps it.
    let exported: String
    /// Every change that the tick does not see has a greater number.
    let firstSequence: Int64

    static let columns = "number, token, snapshot::text, time, exported, first_seq"

    init(tick: Tick, exported: String, firstSequence: Int64) {
        self.tick = tick
        self.exported = exported
        self.firstSequence = firstSequence
    }

    init(_ row: PostgresRow) throws {
        guard let snapshot = Snapshot(text: try row[2].string) else {
            throw PostgresStoreError(.corrupt, "The snapshot of a tick is not readable.")
        }
        self.init(
            tick: Tick(
                number: try row[0].int64, token: try row[1].int64, snapshot: snapshot,
                time: Stamp(microseconds: try row[3].int64)),
            exported: try row[4].string, firstSequence: try row[5].int64)
    }

    /// The newest tick as its row is now; nil in a database that has none.
    static func latest(_ connection: PostgresConnection) async throws -> StoredTick? {
        try await connection.query("SELECT \(columns) FROM tombolo.tick ORDER BY number DESC LIMIT 1")
            .first.map { try StoredTick($0) }
    }

    /// Of so many transactions begun since a tick, those that have been committed are looked up one by one.
    static let maximumNamedTransactionCount = 1_000

    /// SQL that says whether the changelog has changes beyond a snapshot. Looks for each transaction committed since: a walk
    /// over all later rows would pass, each time, what transactions under way have written so far. Wants `enable_seqscan` to
    /// be off: the planner thinks that a third of a table without statistics lies beyond any bound, and would read it all.
    /// - Parameters:
    ///   - sequence: SQL for a bigint; all changes beyond the snapshot have greater numbers.
    ///   - next: SQL for the snapshot's xmax, an xid8.
    ///   - running: SQL for what it saw running, an array of xid8.
    static func hasChanges(after sequence: String, next: String, running: String) -> String {
        func exists(_ condition: String) -> String {
            "EXISTS (SELECT FROM tombolo.changelog WHERE seq > \(sequence) AND \(condition))"
        }
        return """
            (SELECT CASE WHEN s.next - \(next)::text::bigint > \(maximumNamedTransactionCount) \
            THEN \(exists("xid >= \(next)")) OR \(exists("xid = ANY (\(running))")) \
            ELSE \(exists("""
                xid = ANY (ARRAY(SELECT c.xid FROM (\
                SELECT n::text::xid8 FROM generate_series(\(next)::text::bigint, s.next - 1) AS n \
                UNION ALL SELECT unnest(\(running))) AS c (xid) WHERE pg_visible_in_snapshot(c.xid, s.snapshot)))
                """)) END \
            FROM (SELECT snapshot, pg_snapshot_xmax(snapshot)::text::bigint AS next \
            FROM pg_current_snapshot() AS snapshot OFFSET 0) AS s)
            """
    }

    /// Asks whether there are changes that a snapshot doesn't see, all of which have greater numbers than `sequence`.
    static func hasChanges(beyond snapshot: Snapshot, after sequence: Int64) -> PostgresStatement {
        PostgresStatement(
            "SELECT \(hasChanges(after: "$1", next: "$2::xid8", running: "$3::xid8[]"))",
            [.int64(sequence), .untyped(String(snapshot.xmax)), .untyped(snapshot.runningText)])
    }

    /// The same, with what can be seen at this moment, as text. While nothing more was committed than at an earlier look that
    /// found nothing, the changelog isn't read.
    static func hasChanges(
        beyond snapshot: Snapshot, after sequence: Int64, sinceSeeing seen: String
    ) -> PostgresStatement {
        let question = hasChanges(beyond: snapshot, after: sequence)
        return PostgresStatement(
            """
            SELECT s.seen, CASE WHEN s.seen = $4 THEN false ELSE (\(question.sql)) END \
            FROM (SELECT pg_current_snapshot()::text AS seen OFFSET 0) AS s
            """, question.parameters + [.text(seen)])
    }

    /// Whether a transaction sees changes that the tick doesn't.
    static func isOutdated(_ stored: StoredTick, _ connection: PostgresConnection) async throws -> Bool {
        let statement = hasChanges(beyond: stored.tick.snapshot, after: stored.firstSequence)
        return try await connection.pipeline([statement])[0][0, 0].bool
    }

    static func numbered(_ number: Int64, _ connection: PostgresConnection) async throws -> StoredTick? {
        try await connection.query(
            "SELECT \(columns) FROM tombolo.tick WHERE number = $1", [.int64(number)]
        ).first.map { try StoredTick($0) }
    }

    /// Those that there are, by number.
    static func numbered(_ numbers: Set<Int64>, _ pool: PostgresPool) async throws -> [Int64: Tick] {
        let rows = try await pool.query(
            "SELECT \(columns) FROM tombolo.tick WHERE number = ANY ($1)", [.int64Array(Array(numbers))])
        return Dictionary(
            uniqueKeysWithValues: try rows.map { row in
                let tick = try StoredTick(row).tick
                return (tick.number, tick)
            })
    }
}

extension Snapshot {
    /// The running transactions as an array constant.
    var runningText: String { "{\(running.sorted().map(String.init).joined(separator: ","))}" }
}
