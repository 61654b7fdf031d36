import RandomValues
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

/// A random history of plain SQL and uploads. After every tick, the difference from each of the last few ticks, applied
/// to the rows as of that tick, must give the current rows.
struct ServerStoreHistory<Harness: ServerStoreHarness> {
    typealias Model = ServerConformanceSchema
    typealias Rows = [ObjectReference: Row]

    static var stepCount: Int { 30 }

    static func run(schema: Schema, seed: UInt64) async throws {
        let harness = try await Harness.make(schema: schema)
        do {
            try await run(harness, schema, seed)
        } catch {
            try? await harness.finish()
            throw ServerStoreConformanceFailure("seed \(seed): \(error)")
        }
        try await harness.finish()
    }

    private static func run(_ harness: Harness, _ schema: Schema, _ seed: UInt64) async throws {
        let scenario = ServerStoreScenario(harness: harness, schema: schema)
        var random = SeededGenerator(seed: seed)
        try await scenario.open(scenario.ada, scenario.bob)
        var numbers: [ClientID: Int64] = [scenario.ada: 0, scenario.bob: 0]
        var states: [(tick: Tick, rows: Rows)] = []
        for _ in 0..<stepCount {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                if states.isEmpty || Bool.random(using: &random) {
                    try? await harness.write(plainWrites(&random))
                } else if let base = states.randomElement(using: &random)?.tick {
                    let client = Bool.random(using: &random) ? scenario.ada : scenario.bob
                    let number = (numbers[client] ?? 0) + 1
                    numbers[client] = number
                    let results = try await scenario.store.upload([
                        scenario.upload(
                            client, number, base: base,
                            at: scenario.later(base, by: Int64.random(in: 0...1_000, using: &random)),
                            instructions(&random)
                        ) { _ in nil }
                    ])
                    switch results[0] {
                    case .applied: break
                    default: throw ServerStoreConformanceFailure("upload \(number) of \(client): \(results[0])")
                    }
                }
            }
            guard let tick = try await scenario.store.makeTick() else { continue }
            let rows = try await scenario.content()
            for state in states {
                let difference = try await scenario.difference(from: state.tick)
                let result = apply(difference, to: state.rows, schema)
                try requireEqual(
                    result, rows, "rows at tick \(tick.number) by the difference from \(state.tick.number)")
            }
            states.append((tick, rows))
            if states.count > 4 { states.removeFirst() }
        }
    }

    /// Applies a difference as a device that may see everything would.
    private static func apply(_ difference: TickDifference, to rows: Rows, _ schema: Schema) -> Rows {
        var rows = rows
        for change in difference.changes {
            let root = change.reference
            func dropElements() {
                for index in schema.elementClassIndexes(of: root.classIndex) {
                    for (reference, row) in rows
                    where reference.classIndex == index && row[ElementColumn.owner] == root.key {
                        rows[reference] = nil
                    }
                }
            }
            switch (change.old, change.new) {
            case (_, nil):
                rows[root] = nil
                dropElements()
            case (nil, let new?):
                rows[root] = new
                for (index, elements) in change.elements {
                    for row in elements { rows[ObjectReference(classIndex: index, key: row[0])] = row }
                }
            case (.some, let new?):
                for column in change.changedColumns { rows[root]?[column] = new[column] }
                for (index, keys) in change.removedElements {
                    for key in keys { rows[ObjectReference(classIndex: index, key: key)] = nil }
                }
                for (index, elements) in change.changedElements {
                    for row in elements { rows[ObjectReference(classIndex: index, key: row[0])] = row }
                }
            }
        }
        return rows
    }

    // MARK: Random writes

    private static func plainWrites(_ random: inout SeededGenerator) -> [(ObjectReference, Row?)] {
        (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let row = row(&random)
            return Int.random(in: 0..<4, using: &random) == 0 ? (row.0, nil) : row
        }
    }

    private static func row(_ random: inout SeededGenerator) -> (ObjectReference, Row?) {
        let number = UInt32.random(in: 1...4, using: &random)
        let session = "s\(Int.random(in: 1...4, using: &random))"
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return Model.put(Model.room, Model.roomRow(number, "room \(UInt8.random(in: 0...9, using: &random))"))
        case 1:
            return Model.put(
                Model.session,
                Model.sessionRow(
                    session, "title \(UInt8.random(in: 0...9, using: &random))",
                    room: Bool.random(using: &random) ? number : nil, seats: Int64(number),
                    rating: Bool.random(using: &random) ? 0.5 : nil,
                    // The same number can have several spellings.
                    price: [nil, 1, "1.0", "1.50", "1E+1", 10, .nan].randomElement(using: &random) ?? nil))
        case 2:
            return Model.put(
                Model.speaker, Model.speakerRow(Int64(number), "name \(UInt8.random(in: 0...9, using: &random))"))
        default:
            // An element never changes its session.
            return Model.put(
                Model.element,
                Model.elementRow(
                    number, of: "s\(number)", "r\(UInt8.random(in: 0...9, using: &random))",
                    Int64.random(in: 1...4, using: &random)))
        }
    }

    private static func instructions(_ random: inout SeededGenerator) -> [Instruction] {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let (reference, row) = row(&random)
            guard let row else { return .erase(reference) }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: return .erase(reference)
            case 1 where reference.classIndex == Model.session:
                return .add(reference, column: Model.Session.seats, amount: Int64.random(in: -3...3, using: &random))
            case 2, 3:
                let column = row.values.count - 1
                return .set(reference, [FieldWrite(column: column, value: row[column])])
            default:
                return .create(
                    reference,
                    row.values.indices.dropFirst().map {
                        FieldWrite(
                            column: $0, value: row[$0],
                            isDefault: row[$0].isNull && Bool.random(using: &random))
                    })
            }
        }
    }
}

extension ServerStoreScenario {
    /// Every row at the newest tick.
    func content() async throws -> [ObjectReference: Row] {
        try await store.withReader { [schema] reader in
            var result: [ObjectReference: Row] = [:]
            for index in schema.classes.indices {
                for (key, row) in try await reader.allRows(index, matching: .constant(true), schema: schema) {
                    result[ObjectReference(classIndex: index, key: key)] = row
                }
            }
            return result
        }
    }
}
