import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

/// One database, and the steps that checks take on it.
struct ServerStoreScenario<Harness: ServerStoreHarness>: Sendable {
    typealias Model = ServerConformanceSchema

    let harness: Harness
    let schema: Schema
    let ada = ClientID(rawValue: 101)
    let bob = ClientID(rawValue: 202)

    var store: Harness.Store { harness.store }

    // MARK: Steps

    func tick() async throws -> Tick {
        if let tick = try await store.makeTick() { return tick }
        return try await store.latestTick()
    }

    func newTick() async throws -> Tick {
        guard let tick = try await store.makeTick() else {
            throw ServerStoreConformanceFailure("no tick was made although something changed")
        }
        return tick
    }

    func write(_ rows: (ObjectReference, Row?)...) async throws { try await harness.write(rows) }

    func open(_ clients: ClientID...) async throws {
        for client in clients {
            let opening = try await store.openClient(client, user: "user \(client)", acknowledged: 0)
            try requireEqual(opening.mustReset, nil, "opening \(client)")
        }
    }

    func upload(
        _ client: ClientID, _ number: Int64, base: Tick, at stamp: Stamp? = nil, _ instructions: Instruction...
    ) -> Upload {
        upload(client, number, base: base, at: stamp, instructions) { _ in nil }
    }

    func upload(
        _ client: ClientID, _ number: Int64, base: Tick, at stamp: Stamp? = nil, _ instructions: [Instruction],
        permit: @escaping @Sendable (WriteRequest) -> WriteDenial?
    ) -> Upload {
        Upload(
            client: client,
            changeset: Changeset(
                number: number, base: base.number,
                stamp: stamp ?? Stamp(microseconds: base.time.microseconds + number), instructions: instructions),
            permit: permit)
    }

    func apply(_ uploads: Upload...) async throws {
        for result in try await store.upload(uploads) {
            guard case .applied = result else { throw ServerStoreConformanceFailure("not applied: \(result)") }
        }
    }

    /// All rows of a class at the newest tick, by key.
    func rows(_ classIndex: Int, matching predicate: Predicate = .constant(true)) async throws -> [Value: Row] {
        try await store.withReader { reader in
            try await reader.allRows(classIndex, matching: predicate, schema: schema)
        }
    }

    func difference(from tick: Tick) async throws -> TickDifference {
        try await store.withReader { try await $0.difference(from: tick) }
    }

    func change(_ reference: ObjectReference, in difference: TickDifference) throws -> RootChange {
        guard let change = difference.changes.first(where: { $0.reference == reference }) else {
            throw ServerStoreConformanceFailure("\(reference) is not in the difference")
        }
        return change
    }

    func later(_ tick: Tick, by microseconds: Int64) -> Stamp {
        Stamp(microseconds: tick.time.microseconds + microseconds)
    }
}

extension TickReader {
    /// Rows of a class in column order, by key.
    func allRows(_ classIndex: Int, matching predicate: Predicate, schema: Schema) async throws -> [Value: Row] {
        let collected = RowCollector(schema: schema)
        let columns = Array(schema[classIndex].columns.indices)
        if schema[classIndex].owner == nil {
            try await rows(classIndex: classIndex, matching: predicate, columns: columns) { await collected.add($0) }
        } else {
            try await elements(classIndex: classIndex, ofOwnersMatching: predicate, columns: columns) {
                await collected.add($0)
            }
        }
        return try await collected.rows()
    }
}

/// Collects the rows of blocks.
actor RowCollector {
    private let schema: Schema
    private var blocks: [RowBlock] = []

    init(schema: Schema) { self.schema = schema }

    func add(_ block: RowBlock) { blocks.append(block) }

    /// The rows by key, with their values in the order of the blocks' columns.
    func rows() throws -> [Value: Row] {
        var result: [Value: Row] = [:]
        for block in blocks {
            try block.check(in: schema)
            for row in 0..<block.rowCount {
                let values = block.columns.indices.map { block.value(row: row, position: $0, schema: schema) }
                try requireTrue(result.updateValue(Row(values), forKey: values[0]) == nil, "a row came twice")
            }
        }
        return result
    }
}
