internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Reads the simulated database as of a tick.
///
/// `@unchecked Sendable`: the database is guarded by `gate`, which every method takes. A simulation, which runs as one
/// task, passes its own gate.
struct SimulatedReader: TickReader, @unchecked Sendable {
    let database: SimulatedDatabase
    let gate: SimulatedGate
    let tick: Tick
    var mutant: Mutant?
    /// The number of rows per block.
    var blockSize = 3

    /// The snapshot used for reading rows: the tick's.
    private var snapshot: Snapshot { mutant == .ownSnapshotRead ? database.snapshot : tick.snapshot }

    func difference(from: Tick) async throws -> TickDifference {
        gate.run {
            var cursor: Int64?
            if mutant == .sequenceCursor {
                cursor =
                    database.logRows(
                        of: database.changelog.keys.filter { from.snapshot.sees($0) }
                    ).last?.sequence
            }
            return database.difference(from: from, to: tick, rowsIn: snapshot, cursor: cursor)
        }
    }

    func rows(
        classIndex: Int, matching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws {
        let item = database.schema[classIndex]
        let rows = gate.run {
            database.rows(classIndex: classIndex, in: snapshot) { matching.matches($0, of: item) }
        }
        try await pass(rows, classIndex, columns, body)
    }

    func elements(
        classIndex: Int, ofOwnersMatching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws {
        let rows = gate.run {
            let root = database.schema.rootClassIndex(of: classIndex)
            let item = database.schema[root]
            return database.rows(classIndex: classIndex, in: snapshot) { row in
                let owner = ObjectReference(classIndex: root, key: row[ElementColumn.owner])
                guard let owner = database.row(owner, in: snapshot) else { return false }
                return ofOwnersMatching.matches(owner, of: item)
            }
        }
        try await pass(rows, classIndex, columns, body)
    }

    func count(classIndex: Int, matching: Predicate) async throws -> Int {
        let item = database.schema[classIndex]
        return gate.run {
            database.rows(classIndex: classIndex, in: snapshot) { matching.matches($0, of: item) }.count
        }
    }

    func progress(of client: ClientID) async throws -> ClientProgress {
        gate.run {
            if mutant == .acknowledgeBeforeCommit, let progress = database.uncommittedProgress(client) {
                return ClientProgress(last: progress.last, refusals: [])
            }
            return database.clientProgress(client, in: tick.snapshot)
        }
    }

    func progress(of clients: [ClientID: Int64]) async throws -> [ClientID: ClientProgress] {
        var result: [ClientID: ClientProgress] = [:]
        for (client, first) in clients {
            var progress = try await progress(of: client)
            progress.refusals.removeAll { $0.number < first }
            result[client] = progress
        }
        return result
    }

    private func pass(
        _ rows: [Row], _ classIndex: Int, _ columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws {
        var start = 0
        while start < rows.count {
            let end = min(start + blockSize, rows.count)
            var block = RowBlock(schema: database.schema, classIndex: classIndex, columns: columns, isWhole: true)
            for row in rows[start..<end] { block.append(row) }
            try await body(block)
            start = end
        }
    }
}
