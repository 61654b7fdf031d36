import PostgresClient

@testable import TomboloPostgresStore

/// A consumer that follows the changelog in a way that looks right but isn't.
struct WrongReader: Sendable {
    enum Way: String, CaseIterable, Sendable {
        /// Reads every row with a greater sequence number than the last one read.
        case sequenceCursor
        /// Reads every row below the oldest running transaction, in sequence order.
        case xminWatermark
        /// Reads the right changes of each tick, but their rows as of the time of reading.
        case ownSnapshot
    }

    struct Outcome: Sendable {
        var batches = 0
        var problems: [String] = []
    }

    let way: Way
    let configuration: PostgresConfiguration

    /// Reads until `isOver`, and then once more. Reports violations in its own content.
    func run(until isOver: @Sendable () -> Bool, failed: @Sendable () -> Void) async throws -> Outcome {
        let connection = try await PostgresConnection.connect(configuration)
        var cursor = Cursor()
        var content = BankContent()
        var outcome = Outcome()
        var isLast = false
        while true {
            let isChanged = try await connection.transaction(isolation: .repeatableRead) { connection in
                try await batch(connection, &cursor, &content)
            }
            if isChanged {
                outcome.batches += 1
                if let problem = content.problem {
                    outcome.problems.append(problem)
                    failed()
                }
            }
            if isLast { break }
            isLast = isOver()
            try await connection.execute("SELECT pg_sleep(0.01)")
        }
        // At rest, a wrong cursor may turn out to have missed changes for good.
        let truth = try await BankQuery.everything(connection)
        if content != truth {
            outcome.problems.append("changes were lost")
            failed()
        }
        await connection.close()
        return outcome
    }

    private static let changes = """
        tombolo.changelog l JOIN tombolo.class c ON c.id = \(BulkRow.classID(ofRow: "l")) \
        CROSS JOIN LATERAL unnest(\(BulkRow.keys(ofRow: "l"))) AS k (key)
        """

    private struct Cursor {
        var isFirst = true
        var sequence: Int64 = -1
        var watermark = "0"
        var tick: Int64 = 0
        var snapshot = ""
    }

    private func batch(
        _ connection: PostgresConnection, _ cursor: inout Cursor, _ content: inout BankContent
    ) async throws -> Bool {
        switch way {
        case .sequenceCursor:
            let changes = try await connection.query(
                "SELECT c.name, k.key FROM \(Self.changes) WHERE l.seq > $1",
                [.int64(cursor.sequence)])
            let last = try await connection.query("SELECT max(seq) FROM tombolo.changelog")
            cursor.sequence = try last[0][0].nonNull?.int64 ?? -1
            return try await take(changes, connection, &content)
        case .xminWatermark:
            let xmin = try await connection.query(
                "SELECT pg_snapshot_xmin(pg_current_snapshot())::text")[0][0].string
            let changes = try await connection.query(
                """
                SELECT c.name, k.key FROM \(Self.changes) \
                WHERE l.xid >= $1::xid8 AND l.xid < $2::xid8 ORDER BY l.seq
                """, [.untyped(cursor.watermark), .untyped(xmin)])
            cursor.watermark = xmin
            return try await take(changes, connection, &content)
        case .ownSnapshot:
            guard
                let tick = try await connection.query(
                    "SELECT number, snapshot::text FROM tombolo.tick ORDER BY number DESC LIMIT 1"
                ).first,
                try tick[0].int64 > cursor.tick
            else { return false }
            let snapshot = try tick[1].string
            defer {
                cursor.snapshot = snapshot
            }
            cursor.tick = try tick[0].int64
            if cursor.snapshot.isEmpty {
                content = try await BankQuery.everything(connection)
                return true
            }
            let changes = try await connection.query(
                """
                SELECT c.name, k.key FROM \(Self.changes) \
                WHERE NOT pg_visible_in_snapshot(l.xid, $1::pg_snapshot) \
                AND pg_visible_in_snapshot(l.xid, $2::pg_snapshot)
                """, [.untyped(cursor.snapshot), .untyped(snapshot)])
            return try await take(changes, connection, &content)
        }
    }

    private func take(
        _ changes: PostgresResult, _ connection: PostgresConnection, _ content: inout BankContent
    ) async throws -> Bool {
        var keys: [String: Set<Int64>] = [:]
        for row in changes {
            if let key = Int64(try row[1].string) { keys[try row[0].string, default: []].insert(key) }
        }
        try await BankQuery.refresh(&content, keys, connection)
        return !changes.isEmpty
    }
}

/// Reads the bank's rows with plain SQL.
enum BankQuery {
    static func everything(_ connection: PostgresConnection) async throws -> BankContent {
        var content = BankContent()
        try await refresh(&content, nil, connection)
        return content
    }

    /// Reads the rows with these keys, by class, or all rows if nil.
    static func refresh(
        _ content: inout BankContent, _ keys: [String: Set<Int64>]?, _ connection: PostgresConnection
    ) async throws {
        func rows(_ className: String, _ columns: String) async throws -> PostgresResult? {
            let table = className.lowercased()
            guard let keys else { return try await connection.query("SELECT \(columns) FROM \(table)") }
            guard let wanted = keys[className] else { return nil }
            return try await connection.query(
                "SELECT \(columns) FROM \(table) WHERE _id = ANY ($1)", [.int64Array(wanted.map { $0 })])
        }
        for row in try await rows("Account", "_id, balance").map(Array.init) ?? [] {
            content.accounts[try row[0].int64] = try row[1].int64
        }
        for row in try await rows("Parent", "_id").map(Array.init) ?? [] {
            content.parents.insert(try row[0].int64)
        }
        for row in try await rows("Child", "_id, title, parent").map(Array.init) ?? [] {
            content.children[try row[0].int64] = .init(
                title: try row[1].int64, parent: try row[2].nonNull?.int64)
        }
    }
}
