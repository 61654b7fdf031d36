import Foundation
import RandomValues
import TomboloModel

typealias Predicate = TomboloModel.Predicate

/// Random rows and predicates of one class with every kind of column. Values come from small sets, so that predicates
/// often match, and include many edge cases: both zeros, NaN, infinities, composed and decomposed letters, equal decimals.
struct RandomPredicates {
    var random: RandomValues
    private let doubles: [Double]

    static let item: ClassSchema = {
        var columns = [Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)]
        let types: [PropertyType] = [
            .bool, .int(bits: 64), .double, .string, .data, .date, .objectId, .uuid, .decimal128,
        ]
        for type in types {
            columns.append(Column(name: type.name, type: type))
            columns.append(Column(name: "maybe.\(type.name)", type: type, isOptional: true))
        }
        columns.append(Column(name: "room", type: .link(to: "Room"), isOptional: true, previousNames: ["place"]))
        return ClassSchema(name: "Item", columns: columns)
    }()

    /// - Parameter hasNaN: whether the doubles include NaN. Predicates with NaN don't equal themselves.
    init(_ generator: SeededGenerator, hasNaN: Bool = true) {
        random = RandomValues(generator)
        doubles = [0, -0.0, 1, -1.5, 0.1, .infinity, -.infinity, 1e300] + (hasNaN ? [.nan] : [])
    }

    mutating func row() -> Row {
        Row(Self.item.columns.map { $0.isOptional && random.flag(3) ? .null : value($0) })
    }

    private mutating func value(_ column: Column) -> Value {
        switch column.type {
        case .bool: .bool(random.flag())
        case .int: .int(random.pick([.min, -2, -1, 0, 1, 2, 3, 4, 5, .max]))
        case .double: .double(random.pick(doubles))
        case .string, .link: .string(text())
        case .data: .data(Data((0..<random.int(0...2)).map { _ in random.pick([0, 0x61, 0xff]) }))
        case .date: .date(random.pick([Value.dateRange.lowerBound, -1, 0, 1, 2, 3, Value.dateRange.upperBound]))
        case .objectId: .objectId(ObjectId(high: UInt64(random.int(0...3)) << 60, low: UInt32(random.int(0...1))))
        case .uuid:
            .uuid(UUID(uuid: (UInt8(random.int(0...3) * 80), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
        case .decimal128:
            .decimal(
                random.pick([0, "-0", "0.00", 1, "1.0", "1.00", -1, "-1.50", 10, "1E+1", .nan, .infinity, .min, .max]))
        default: .null
        }
    }

    private mutating func text() -> String {
        let letters = ["a", "a", "b", "A", "é", "e\u{301}", "\u{d7ff}", "\u{e000}", "\u{10ffff}", "\u{1}"]
        return (0..<random.int(0...3)).map { _ in random.pick(letters) }.joined()
    }

    mutating func predicate(_ depth: Int = 0) -> Predicate {
        switch random.int(0...(depth > 3 ? 5 : 9)) {
        case 0 where depth > 0: .constant(random.flag())
        case 6, 7: .and((0..<random.int(0...4)).map { _ in predicate(depth + 1) })
        case 8: .or((0..<random.int(0...3)).map { _ in predicate(depth + 1) })
        case 9: .not(predicate(depth + 1))
        default: leaf()
        }
    }

    private mutating func leaf() -> Predicate {
        let column = random.pick(Self.item.columns)
        var path = PropertyPath(column.name.split(separator: ".").map(String.init))
        if column.name == "room", random.flag() { path = PropertyPath("place") }
        if random.flag(30) { path = PropertyPath("gone") }
        func literal(_ self: inout Self) -> Value { self.random.flag(8) ? .null : self.value(column) }
        switch random.int(0...4) {
        case 0: return .isIn(path, (0..<random.int(0...4)).map { _ in literal(&self) })
        case 1 where column.type == .string:
            return .text(path, random.pick(Predicate.TextTest.allCases), text(), ignoringCase: random.flag(3))
        case 2: return .compare(path, .equal, literal(&self))
        default: return .compare(path, random.pick(Predicate.Comparison.allCases), literal(&self))
        }
    }

    /// The same condition, written in another way.
    mutating func rewritten(_ predicate: Predicate) -> Predicate {
        switch predicate {
        case .isIn(let path, let literals):
            return .isIn(path, (literals + literals.prefix(random.int(0...2))).shuffled(using: &random.generator))
        case .and(let parts): return regrouped(parts, Predicate.and)
        case .or(let parts): return regrouped(parts, Predicate.or)
        case .not(let inner): return .not(rewritten(inner))
        default: return random.flag(4) ? .not(.not(predicate)) : predicate
        }
    }

    private mutating func regrouped(_ parts: [Predicate], _ combine: ([Predicate]) -> Predicate) -> Predicate {
        var parts = parts.map { rewritten($0) }
        if random.flag(3), let part = parts.first { parts.append(part) }
        parts.shuffle(using: &random.generator)
        guard parts.count > 1, random.flag() else { return combine(parts) }
        let middle = random.int(1...parts.count)
        return combine([combine(Array(parts[..<middle]))] + parts[middle...])
    }
}
