internal import PostgresClient
internal import PostgresValues
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQL
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Reads under a tick's imported snapshot, on its own connection.
struct PostgresTickReader: TickReader {
    /// The limits of one block: its rows, and roughly its bytes, which the last row may exceed.
    static let blockRowCount = 4_096
    static let blockByteCount = 2 << 20

    let stored: StoredTick
    let connection: PostgresConnection
    let layout: StoreLayout
    /// Whether searches pause to leave the database time: see ``SearchPause``.
    var pausesSearches = false

    var tick: Tick { stored.tick }

    // MARK: Rows

    func rows(
        classIndex: Int, matching predicate: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws {
        let item = try layout.layout(classIndex)
        let (condition, parameters) = try await condition(predicate, item, alias: "t")
        let list = try self.columns(columns, of: item, alias: "t")
        try await stream(
            "SELECT \(list) FROM \(item.table) AS t WHERE \(condition)\(item.andLive("t"))", parameters, item, columns,
            body)
    }

    func elements(
        classIndex: Int, ofOwnersMatching predicate: Predicate, columns: [Int],
        _ body: (RowBlock) async throws -> Void
    ) async throws {
        let item = try layout.layout(classIndex)
        let ownerIndex = layout.schema.rootClassIndex(of: classIndex)
        guard item.isElement, ownerIndex != classIndex else {
            throw PostgresStoreError(.misuse, "\(item.item.name) isn't a list element class.")
        }
        let owner = try layout.layout(ownerIndex)
        let (condition, parameters) = try await condition(predicate, owner, alias: "o")
        let list = try self.columns(columns, of: item, alias: "t")
        try await stream(
            "SELECT \(list) FROM \(item.table) AS t JOIN \(owner.table) AS o "
                + "ON o.\(owner.key) = t.\(item.names[ElementColumn.owner]) WHERE \(condition)\(owner.andLive("o"))",
            parameters, item, columns, body)
    }

    func count(classIndex: Int, matching predicate: Predicate) async throws -> Int {
        let item = try layout.layout(classIndex)
        let (condition, parameters) = try await condition(predicate, item, alias: "t")
        let result = try await connection.query(
            "SELECT count(*) FROM \(item.table) AS t WHERE \(condition)\(item.andLive("t"))", parameters)
        return try result[0][0].int
    }

    private func condition(
        _ predicate: Predicate, _ item: ClassLayout, alias: String
    ) async throws -> (sql: String, parameters: [PostgresParameter]) {
        var builder = try SQLBuilder(
            .postgresql, schema: layout.schema, className: item.item.name, alias: alias)
        var sql = try builder.condition(predicate)
        if pausesSearches, let pause = SearchPause.condition(for: predicate, alias: alias) {
            // The pauses don't count towards the time limit.
            try await connection.limitStatements(to: PostgresServerStore.readStatementTimeout * SearchPause.stretch)
            sql = "\(pause) AND \(sql)"
        }
        return (sql, try builder.parameters.map { try PostgresParameter($0) })
    }

    private func columns(_ columns: [Int], of item: ClassLayout, alias: String) throws -> String {
        guard columns.first == item.keyIndex, columns.allSatisfy(item.names.indices.contains) else {
            throw PostgresStoreError(.misuse, "The columns of \(item.item.name) must start with the primary key.")
        }
        return columns.map { "\(alias).\(item.names[$0])" }.joined(separator: ", ")
    }

    private func stream(
        _ sql: String, _ parameters: [PostgresParameter], _ item: ClassLayout, _ columns: [Int],
        _ body: (RowBlock) async throws -> Void
    ) async throws {
        let builder = RowBlockBuilder(layout: item, columns: columns)
        try await connection.stream(
            sql, parameters, batch: Self.blockRowCount, batchByteCount: Self.blockByteCount
        ) { result in
            if !result.isEmpty { try await body(builder.block(result)) }
        }
    }

    // MARK: Progress

    func progress(of client: ClientID) async throws -> ClientProgress {
        try await progress(of: [client: 1])[client] ?? ClientProgress(last: 0, refusals: [])
    }

    func progress(of clients: [ClientID: Int64]) async throws -> [ClientID: ClientProgress] {
        let wanted = clients.sorted { $0.key < $1.key }
        let results = try await connection.pipeline(
            wanted.flatMap { client, first in
                [
                    PostgresStatement("SELECT last FROM tombolo.client WHERE id = $1", [.int64(client.rawValue)]),
                    PostgresStatement(
                        """
                        SELECT number, refusals FROM tombolo.receipt WHERE client = $1 \
                        AND number >= $2 AND acknowledged_at IS NULL AND refusals IS NOT NULL ORDER BY number
                        """, [.int64(client.rawValue), .int64(first)]),
                ]
            })
        var progress: [ClientID: ClientProgress] = [:]
        for (position, item) in wanted.enumerated() {
            progress[item.key] = ClientProgress(
                last: try results[2 * position].first.map { try $0[0].int64 } ?? 0,
                refusals: try results[2 * position + 1].flatMap { row in
                    let number = try row[0].int64
                    return try StoredRefusal.read(try row[1].string, layout).map {
                        RefusedWrite(number: number, refusal: $0)
                    }
                })
        }
        return progress
    }
}
