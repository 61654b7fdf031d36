internal import PostgresClient
internal import TomboloChangesets

/// A tick and the other columns of its row.
struct StoredTick: Sendable {
    let tick: Tick
    /// The snapshot's name for `SET TRANSACTION SNAPSHOT`, valid while the sequencer keeps it open.
    let exported: String
    /// Every change that the tick doesn't see has a greater number.
    let firstSequence: Int64

    static let columns = "number, token, snapshot::text, time, exported, first_seq"

    init(tick: Tick, exported: String, firstSequence: Int64) {
        self.tick = tick
        self.exported = exported
        self.firstSequence = firstSequence
    }

    init(_ row: PostgresRow) throws {
        guard let snapshot = Snapshot(text: try row[2].string) else {
            throw PostgresStoreError(.corrupt, "The snapshot of a tick can't be read.")
        }
        self.init(
            tick: Tick(
                number: try row[0].int64, token: try row[1].int64, snapshot: snapshot,
                time: Stamp(microseconds: try row[3].int64)),
            exported: try row[4].string, firstSequence: try row[5].int64)
    }

    /// The newest tick, or nil if the database has none.
    static func latest(_ connection: PostgresConnection) async throws -> StoredTick? {
        try await connection.query("SELECT \(columns) FROM tombolo.tick ORDER BY number DESC LIMIT 1")
            .first.map { try StoredTick($0) }
    }

    /// With up to this many transactions begun since a tick, the committed ones are looked up one by one.
    static let maximumNamedTransactionCount = 1_000

    /// An SQL expression for whether the changelog has changes beyond a snapshot. It looks up each transaction
    /// committed since: scanning all later rows would pass over the uncommitted rows of running transactions every
    /// time. It needs `enable_seqscan` off, because for a table without statistics the planner assumes that a third
    /// of the rows lie beyond any bound, and would read the whole table.
    /// - Parameters:
    ///   - sequence: SQL for a bigint. All changes beyond the snapshot have greater numbers.
    ///   - next: SQL for the snapshot's xmax, an xid8.
    ///   - running: SQL for the transactions that it saw running, an array of xid8.
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

    /// Asks whether there are changes that a snapshot doesn't see. All of them must have greater numbers than
    /// `sequence`.
    static func hasChanges(beyond snapshot: Snapshot, after sequence: Int64) -> PostgresStatement {
        PostgresStatement(
            "SELECT \(hasChanges(after: "$1", next: "$2::xid8", running: "$3::xid8[]"))",
            [.int64(sequence), .untyped(String(snapshot.xmax)), .untyped(snapshot.runningText)])
    }

    /// The same, but also returns the current snapshot as text. If nothing was committed since an earlier look that
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

    /// Whether a transaction sees changes that the tick doesn't see.
    static func isOutdated(_ stored: StoredTick, _ connection: PostgresConnection) async throws -> Bool {
        let statement = hasChanges(beyond: stored.tick.snapshot, after: stored.firstSequence)
        return try await connection.pipeline([statement])[0][0, 0].bool
    }

    static func numbered(_ number: Int64, _ connection: PostgresConnection) async throws -> StoredTick? {
        try await connection.query(
            "SELECT \(columns) FROM tombolo.tick WHERE number = $1", [.int64(number)]
        ).first.map { try StoredTick($0) }
    }

    /// Those of the ticks that exist, by number.
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
