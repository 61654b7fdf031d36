internal import Foundation
import RandomValues
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

/// A server and an app that do random things in random order, with restarts in between.
struct RandomHistory<Harness: DeviceStoreHarness> {
    let schema: Schema
    let seed: UInt64
    private var generator: SeededGenerator
    private var server: ConformanceServer
    /// The server's rows at the device's position.
    private var delivered: [ObjectReference: Row] = [:]
    private var pending: [Changeset] = []
    private var acknowledged: Int64 = 0
    private let harness: Harness

    init(schema: Schema, seed: UInt64) throws {
        self.schema = schema
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        server = ConformanceServer(schema: schema)
        harness = try Harness(schema: schema, client: ClientID(rawValue: Int64(seed)))
    }

    func run() throws {
        var copy = self
        for step in 0..<60 {
            do {
                try copy.step()
                try copy.check()
            } catch {
                throw ConformanceFailure("seed \(seed), step \(step): \(error)")
            }
        }
    }

    private mutating func step() throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: try writeLocally()
        case 4..<6:
            for _ in 0..<Int.random(in: 1...6, using: &generator) { changeServer() }
        case 6..<9: try deliver()
        default:
            try harness.restart()
        }
    }

    private mutating func writeLocally() throws {
        var instructions: [Instruction] = []
        for _ in 0..<Int.random(in: 1...5, using: &generator) { instructions.append(randomInstruction()) }
        try harness.write(instructions, wallMicroseconds: 5)
        pending = try harness.store.pendingChangesets(
            after: acknowledged, maximumCount: .max, maximumByteCount: .max)
        try requireEqual(pending.last?.instructions, instructions, "the newest queued changeset")
    }

    private mutating func deliver() throws {
        let limit = pending.last?.number ?? acknowledged
        let upTo = Int64.random(in: acknowledged...max(acknowledged, limit), using: &generator)
        // Some acknowledged edits won on the server, others lost or were refused.
        for changeset in pending where changeset.number <= upTo {
            if Bool.random(using: &generator) {
                var content = ExpectedContent(schema: schema, rows: server.rows)
                content.replay([changeset])
                server.rows = content.rows
                server.dropOrphans()
            }
        }
        let everything = Int.random(in: 0..<6, using: &generator) == 0
        var frames = server.frames(
            from: delivered, everything: everything, frameCount: Int.random(in: 1...3, using: &generator))
        // A device that has fallen behind applies several batches as one.
        while !everything, Int.random(in: 0..<3, using: &generator) == 0 {
            let rows = server.rows
            for _ in 0..<Int.random(in: 1...6, using: &generator) { changeServer() }
            for var frame in server.frames(from: rows) {
                frame.sequence = frames.count
                frames.append(frame)
            }
        }
        let stagedCount = Int.random(in: 0..<frames.count, using: &generator)
        for frame in frames.prefix(stagedCount) { try harness.store.stage(frame) }
        if Int.random(in: 0..<4, using: &generator) == 0 { try harness.restart() }
        let end = server.end(acknowledged: upTo, replacesAll: everything, frameCount: frames.count)
        _ = try harness.store.apply(end, frames: Array(frames.dropFirst(stagedCount)), wallMicroseconds: 5)
        acknowledged = upTo
        delivered = server.rows
        pending.removeAll { $0.number <= upTo }
        if everything { for index in pending.indices { pending[index].base = end.position.tick } }
    }

    private func check() throws {
        var expected = ExpectedContent(schema: schema, rows: delivered)
        expected.replay(pending)
        for classIndex in schema.classes.indices {
            let found = try harness.rows(ofClass: classIndex)
            let wanted = expected.rows.filter { $0.key.classIndex == classIndex }.map(\.value)
            try requireEqual(Set(found), Set(wanted), "rows of \(schema[classIndex].name)")
            try requireEqual(found.count, wanted.count, "number of rows of \(schema[classIndex].name)")
        }
        let queued = try harness.store.pendingChangesets(
            after: acknowledged, maximumCount: .max, maximumByteCount: .max)
        try requireEqual(queued, pending, "the queue")
    }

    // MARK: Random values

    /// In half of the histories mostly tickets, which can be rebased one by one.
    private mutating func randomClass() -> Int {
        guard seed.isMultiple(of: 2), Int.random(in: 0..<30, using: &generator) > 0 else {
            return Int.random(in: schema.classes.indices, using: &generator)
        }
        return ConformanceSchema.ticket
    }

    private mutating func changeServer() {
        let classIndex = randomClass()
        let key = randomKey(classIndex)
        if Int.random(in: 0..<4, using: &generator) == 0 {
            server.remove(classIndex, key)
        } else {
            var row = Row(schema[classIndex].columns.indices.map { randomValue(classIndex, $0) })
            row[0] = key
            if classIndex == ConformanceSchema.element { row[ElementColumn.owner] = owner(ofElement: key) }
            server.put(classIndex, row)
        }
        server.dropOrphans()
    }

    /// An element never changes its owner.
    private func owner(ofElement key: Value) -> Value {
        if case .objectId(let id) = key { .string("s\(id.low)") } else { .null }
    }

    private mutating func randomInstruction() -> Instruction {
        let classIndex = randomClass()
        let reference = ObjectReference(classIndex: classIndex, key: randomKey(classIndex))
        let columns = Array(schema[classIndex].columns.indices.dropFirst())
        switch Int.random(in: 0..<8, using: &generator) {
        case 0..<3:
            return .create(
                reference,
                columns.map {
                    let isOwner = classIndex == ConformanceSchema.element && $0 == ElementColumn.owner
                    return FieldWrite(
                        column: $0,
                        value: isOwner ? owner(ofElement: reference.key) : randomValue(classIndex, $0),
                        isDefault: Bool.random(using: &generator))
                })
        case 3..<6:
            let isElement = classIndex == ConformanceSchema.element
            let chosen = columns.filter {
                Bool.random(using: &generator) && !(isElement && $0 == ElementColumn.owner)
            }
            return .set(reference, chosen.map { FieldWrite(column: $0, value: randomValue(classIndex, $0)) })
        case 6 where classIndex == ConformanceSchema.ticket:
            return .add(reference, column: 2, amount: Int64.random(in: -5...5, using: &generator))
        case 6:
            let session = ObjectReference(
                classIndex: ConformanceSchema.session, key: randomKey(ConformanceSchema.session))
            return .add(session, column: 3, amount: Int64.random(in: -5...5, using: &generator))
        default: return .erase(reference)
        }
    }

    /// One of only a few keys, so that edits collide.
    private mutating func randomKey(_ classIndex: Int) -> Value {
        let number = UInt32.random(in: 0..<4, using: &generator)
        switch schema.storedType(of: schema[classIndex].columns[0]) {
        case .string: return .string("s\(number)")
        case .int: return .int(Int64(number))
        default: return .objectId(ObjectId(high: UInt64(classIndex), low: number))
        }
    }

    private mutating func randomValue(_ classIndex: Int, _ column: Int) -> Value {
        let definition = schema[classIndex].columns[column]
        if definition.isOptional, Int.random(in: 0..<4, using: &generator) == 0 { return .null }
        if let target = definition.linkTarget, let index = schema.index(of: target) { return randomKey(index) }
        let number = Int64.random(in: -3...3, using: &generator)
        switch definition.type {
        case .bool: return .bool(number > 0)
        case .int: return .int(number)
        case .double: return .double(Double(number) / 4)
        case .string: return .string(number < 0 ? "" : "é\(number)")
        case .data: return .data(Data(repeating: UInt8(number & 7), count: Int(number & 3)))
        case .date: return .date(number)
        case .objectId: return .objectId(ObjectId(high: 1, low: UInt32(number & 7)))
        case .uuid:
            return .uuid(UUID(uuid: (UInt8(number & 7), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
        // The same number can have several spellings.
        case .decimal128: return .decimal(Decimal128(number) / (number > 0 ? "2.00" : 4))
        case .float, .link, .embedded, .array, .list, .linkingObjects: return .null
        }
    }
}
