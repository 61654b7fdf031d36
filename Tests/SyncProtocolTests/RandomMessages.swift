import Foundation
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// The same numbers for the same seed, on every machine (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// Makes random values of everything that travels, with a liking for the edges.
struct RandomMessages {
    let schema: Schema
    var generator: SeededGenerator

    init(schema: Schema, seed: UInt64) {
        self.schema = schema
        self.generator = SeededGenerator(seed: seed)
    }

    mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    mutating func flag(_ oneIn: Int = 2) -> Bool { int(1...oneIn) == 1 }

    mutating func number() -> Int64 {
        switch int(0...3) {
        case 0: [0, 1, -1, .max, .min][int(0...4)]
        case 1: Int64(int(-100...100))
        default: Int64.random(in: .min ... .max, using: &generator)
        }
    }

    mutating func text() -> String {
        let letters = ["a", "B", "é", "e\u{301}", "ß", "👩‍🚀", "\u{1}", " ", "%", "'", "\"", "\\", "\u{10ffff}"]
        return (0..<int(0...8)).map { _ in letters[int(0...letters.count - 1)] }.joined()
    }

    mutating func value(_ type: PropertyType) -> Value {
        switch type {
        case .bool: return .bool(flag())
        case .int(let bits):
            return .int(bits == 64 ? number() : Int64(int(-(1 << (bits - 1))...(1 << (bits - 1)) - 1)))
        case .double:
            let edges = [0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1]
            return .double(flag() ? edges[int(0...edges.count - 1)] : Double.random(in: -1e9...1e9, using: &generator))
        case .string: return .string(text())
        case .data: return .data(Data((0..<int(0...9)).map { _ in UInt8(int(0...255)) }))
        case .date:
            return .date(
                flag(4)
                    ? (flag() ? Value.dateRange.lowerBound : Value.dateRange.upperBound)
                    : Int64.random(in: Value.dateRange, using: &generator))
        case .objectId: return .objectId(.generate(secondsSince1970: UInt32(int(0...9)), &generator))
        case .uuid:
            return .uuid(
                UUID(uuid: withUnsafeBytes(of: (generator.next(), generator.next())) { $0.load(as: uuid_t.self) }))
        case .link, .list: return .null
        }
    }

    mutating func value(_ column: Column) -> Value {
        column.isOptional && flag(3) ? .null : value(schema.storedType(of: column))
    }

    mutating func reference() -> ObjectReference {
        let index = int(0...schema.classes.count - 1)
        return ObjectReference(classIndex: index, key: key(index))
    }

    mutating func key(_ classIndex: Int) -> Value {
        guard let column = schema[classIndex].primaryKey else { return .null }
        return value(schema.storedType(of: column))
    }

    mutating func row(_ classIndex: Int) -> Row { Row(schema[classIndex].columns.map { value($0) }) }

    mutating func fields(_ classIndex: Int) -> [FieldWrite] {
        var result: [FieldWrite] = []
        for (index, column) in schema[classIndex].columns.enumerated() where flag() {
            result.append(FieldWrite(column: index, value: value(column), isDefault: flag(4)))
        }
        return result.shuffled(using: &generator)
    }

    mutating func changeset(_ number: Int64) -> Changeset {
        let instructions = (0..<int(0...12)).map { _ -> Instruction in
            let reference = reference()
            switch int(0...3) {
            case 0: return .create(reference, fields(reference.classIndex))
            case 1: return .set(reference, fields(reference.classIndex))
            case 2:
                let column = int(0...schema[reference.classIndex].columns.count - 1)
                return .add(reference, column: column, amount: self.number())
            default: return .erase(reference)
            }
        }
        return Changeset(
            number: number, base: Int64(int(0...1_000)), stamp: Stamp(microseconds: self.number()),
            instructions: instructions)
    }

    mutating func predicate(_ depth: Int = 0) -> Predicate {
        let names = ["price", "room", "é", ""]
        let path = PropertyPath((0..<int(1...3)).map { _ in names[int(0...3)] })
        let type = SampleSchema.scalarTypes[int(0...SampleSchema.scalarTypes.count - 1)]
        switch int(0...(depth > 4 ? 3 : 6)) {
        case 0: return .constant(flag())
        case 1: return .compare(path, Predicate.Comparison.allCases[int(0...5)], flag(5) ? .null : value(type))
        case 2: return .isIn(path, (0..<int(0...4)).map { _ in flag(5) ? .null : value(type) })
        case 3: return .text(path, Predicate.TextTest.allCases[int(0...2)], text(), ignoringCase: flag())
        case 4: return .and((0..<int(0...3)).map { _ in predicate(depth + 1) })
        case 5: return .or((0..<int(0...3)).map { _ in predicate(depth + 1) })
        default: return .not(predicate(depth + 1))
        }
    }

    mutating func subscriptions() -> SubscriptionSet {
        SubscriptionSet(
            version: Int64(int(0...9)),
            subscriptions: (0..<int(0...4)).map { _ in
                Subscription(
                    name: flag() ? text() : nil, className: schema[int(0...schema.classes.count - 1)].name,
                    predicate: predicate())
            })
    }

    mutating func position() -> Position {
        Position(
            tick: Int64(int(0...1_000_000)), token: number(), subscriptionVersion: Int64(int(0...9)),
            rulesFingerprint: generator.next(), schemaFingerprint: generator.next())
    }

    mutating func frame() -> BatchFrame {
        var frame = BatchFrame(
            sequence: int(0...1_000), totalObjects: int(0...1_000_000), objectsSoFar: int(0...1_000_000))
        for _ in 0..<int(0...3) {
            let index = int(0...schema.classes.count - 1)
            guard let key = schema[index].primaryKeyIndex else { continue }
            let isWhole = flag()
            let others = schema[index].columns.indices.filter { $0 != key }.filter { _ in isWhole || flag() }
            var block = RowBlock(schema: schema, classIndex: index, columns: [key] + others, isWhole: isWhole)
            for _ in 0..<int(0...20) { block.append(row(index)) }
            frame.blocks.append(block)
        }
        for _ in 0..<int(0...2) {
            let index = int(0...schema.classes.count - 1)
            frame.removals.append(
                ObjectRemoval(classIndex: index, keys: (0..<int(0...9)).map { _ in key(index) }))
        }
        return frame
    }

    mutating func clientMessage() -> ClientMessage {
        switch int(0...3) {
        case 0:
            return .hello(
                Hello(
                    protocolVersion: int(0...3), accessToken: text(), client: .random(using: &generator),
                    position: position(), activeSubscriptions: subscriptions(), wantedSubscriptions: subscriptions(),
                    acknowledged: Int64(int(0...9)), classes: flag() ? HelloClass.describe(schema) : []))
        case 1: return .subscribe(subscriptions())
        case 2:
            let first = Int64(int(1...1_000_000))
            return .upload((0..<Int64(int(0...3))).map { changeset(first + $0) })
        default: return .applied(tick: Int64(int(0...1_000_000_000)))
        }
    }

    mutating func serverMessage() -> ServerMessage {
        switch int(0...5) {
        case 0:
            return .welcome(
                Welcome(
                    protocolVersion: int(0...3), serverTime: Stamp(microseconds: number()),
                    lastChangeset: Int64(int(0...1_000))))
        case 1, 2: return .frame(frame())
        case 3:
            return .end(
                BatchEnd(
                    position: position(), serverTime: Stamp(microseconds: number()), acknowledged: Int64(int(0...99)),
                    refusals: (0..<int(0...3)).map { RefusedChangeset(number: Int64($0 + 1), refusal: refusal()) },
                    replacesAll: flag(), frameCount: int(0...1_000)))
        case 4: return .reset(text())
        default:
            return .failure(
                SessionFailure(
                    SessionFailure.Code.allCases[int(0...SessionFailure.Code.allCases.count - 1)], text(),
                    isRetryable: flag()))
        }
    }

    private mutating func refusal() -> Refusal {
        let reference = flag() ? reference() : nil
        return Refusal(
            Refusal.Code.allCases[int(0...Refusal.Code.allCases.count - 1)], text(),
            className: reference.map { schema[$0.classIndex].name }, key: reference?.key)
    }
}
