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

    /// Asks whether there are changes that a snapshot doesn't see, all of which have greater numbers than `sequence`. Wants
    /// `enable_seqscan` to be off: the planner thinks that a third of a table without statistics lies beyond any bound, and
    /// would read it all.
    static func hasChanges(beyond snapshot: Snapshot, after sequence: Int64) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT EXISTS (SELECT 1 FROM tombolo.changelog WHERE seq > $1 AND xid >= $2::xid8) \
            OR EXISTS (SELECT 1 FROM tombolo.changelog WHERE seq > $1 AND xid = ANY ($3::xid8[]))
            """,
            [.int64(sequence), .untyped(String(snapshot.xmax)), .untyped(snapshot.runningText)])
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
