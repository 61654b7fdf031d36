import Foundation
import RandomValues
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// Makes random values of everything that's sent, with a preference for edge cases.
struct RandomMessages {
    let schema: Schema
    var random: RandomValues

    init(schema: Schema, seed: UInt64) {
        self.schema = schema
        random = RandomValues(SeededGenerator(seed: seed))
    }

    mutating func int(_ range: ClosedRange<Int>) -> Int { random.int(range) }
    mutating func flag(_ oneIn: Int = 2) -> Bool { random.flag(oneIn) }
    mutating func number() -> Int64 { random.number() }
    mutating func text() -> String { random.text() }
    mutating func value(_ type: PropertyType) -> Value { random.value(type) }

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
        return result.shuffled(using: &random.generator)
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

    mutating func traceparent() -> String { "00-\(int(0...9))" }

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
            rulesFingerprint: random.generator.next(), schemaFingerprint: random.generator.next())
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
                    protocolVersion: int(0...3), accessToken: text(), client: .random(using: &random.generator),
                    position: position(), activeSubscriptions: subscriptions(), wantedSubscriptions: subscriptions(),
                    acknowledged: Int64(int(0...9)), classes: flag() ? HelloClass.describe(schema) : [],
                    partition: [
                        nil, .null, .string("user=1"), .int(-5), .objectId(ObjectId(high: 1, low: 2)), .uuid(UUID()),
                    ][
                        int(0...5)]))
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
                    lastChangeset: Int64(int(0...1_000)), isExpired: flag()))
        case 1, 2: return .frame(frame())
        case 3:
            return .end(
                BatchEnd(
                    position: position(), serverTime: Stamp(microseconds: number()), acknowledged: Int64(int(0...99)),
                    refusals: (0..<int(0...3)).map { RefusedWrite(number: Int64($0 + 1), refusal: refusal()) },
                    replacesAll: flag(), frameCount: int(0...1_000),
                    traceparents: (0..<int(0...MessageCodec.maximumTraceparentCount)).map { _ in traceparent() }))
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
            className: reference.map { schema[$0.classIndex].name }, key: reference?.key,
            role: flag() ? text() : nil)
    }
}
