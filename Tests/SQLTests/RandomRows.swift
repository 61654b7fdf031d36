import Foundation
import RandomValues
import TomboloModel

/// Foundation has a type with this name too.
typealias Predicate = TomboloModel.Predicate

/// A random schema with three classes, A → B → C, rows for them, and predicates on A. Values come from small sets, so
/// that predicates match some rows, and include many edge cases: both zeros, infinities, composed and decomposed
/// letters, wildcards.
struct RandomRows {
    let schema: Schema
    /// Rows by class name. Links may be dangling.
    private(set) var rows: [String: [Row]] = [:]
    var generator: SeededGenerator

    static let scalarTypes: [PropertyType] = [
        .bool, .int(bits: 8), .int(bits: 16), .int(bits: 32), .int(bits: 64), .double, .string, .data, .date, .objectId,
        .uuid, .decimal128,
    ]
    private static let keyTypes: [PropertyType] = [.objectId, .uuid, .string, .int(bits: 64)]

    init(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var classes: [ClassSchema] = []
        for (name, target) in [("A", "B"), ("B", "C"), ("C", nil)] as [(String, String?)] {
            var columns = [
                Column(name: "_id", type: Self.keyTypes.randomElement(using: &generator) ?? .uuid, isPrimaryKey: true)
            ]
            for index in 0..<Int.random(in: 3...6, using: &generator) {
                columns.append(
                    Column(
                        name: "p\(index)X", type: Self.scalarTypes.randomElement(using: &generator) ?? .bool,
                        isOptional: Bool.random(using: &generator)))
            }
            // At least one text column, whose name needs quotes.
            columns.append(Column(name: "order", type: .string, isOptional: true))
            if let target { columns.append(Column(name: "next", type: .link(to: target), isOptional: true)) }
            classes.append(ClassSchema(name: name, table: name == "B" ? "select" : nil, columns: columns))
        }
        schema = try Schema(classes)
        self.generator = generator
        for item in schema.classes {
            var keys: Set<Value> = []
            rows[item.name] = (0..<24).compactMap { _ in
                let row = Row(item.columns.map { randomValue($0) })
                return keys.insert(row[0]).inserted ? row : nil
            }
        }
    }

    private mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    private mutating func flag(_ oneIn: Int = 2) -> Bool { int(1...oneIn) == 1 }
    private mutating func pick<T>(_ values: [T]) -> T { values[int(0...values.count - 1)] }

    mutating func text() -> String {
        let letters = ["a", "A", "b", "é", "e\u{301}", "É", "👩‍🚀", "👩", "%", "_", "\\", "'", "\"", "\u{1}", "z", "Z"]
        return (0..<int(0...4)).map { _ in pick(letters) }.joined()
    }

    /// - Parameter type: a stored type.
    mutating func value(_ type: PropertyType) -> Value {
        switch type {
        case .bool: .bool(flag())
        case .int(let bits):
            pick([
                .int(0), .int(1), .int(-1), .int(2), .int(Int64.max >> Int64(64 - bits)),
                .int(Int64.min >> Int64(64 - bits)),
            ])
        case .double:
            .double(
                pick([
                    0, -0.0, 1, -1.5, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
                    9_007_199_254_740_992, 1e300,
                ]))
        case .string: .string(text())
        case .data: .data(Data((0..<int(0...3)).map { _ in pick([0, 1, 0x61, 0x80, 0xff]) }))
        case .date:
            .date(
                pick([
                    0, 1, -1, Value.dateRange.lowerBound, Value.dateRange.upperBound, 1_700_000_000_123_456,
                    -946_684_800_000_001,
                ]))
        case .objectId: .objectId(ObjectId(high: UInt64(int(0...2)) << 60, low: UInt32(int(0...3)) << 30))
        case .uuid:
            .uuid(UUID(uuid: (UInt8(int(0...2) * 100), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(int(0...3)))))
        case .decimal128:
            .decimal(
                pick([
                    0, "-0", "0.00", 1, "1.0", "1.00", -1, "-1.50", 10, "1E+1", 9, "0.1", .min, .max, "1E-6176", .nan,
                    .infinity, -.infinity,
                ]))
        case .float, .link, .embedded, .array, .list, .linkingObjects: .null
        }
    }

    private mutating func randomValue(_ column: Column) -> Value {
        column.isOptional && flag(3) ? .null : value(schema.storedType(of: column))
    }

    private mutating func path() -> (PropertyPath, Column) {
        var item = schema["A"]
        var names: [String] = []
        while let current = item {
            let column = pick(current.columns)
            let follows = current.columns.last?.linkTarget != nil && flag(4)
            if follows, let link = current.columns.last {
                names.append(link.name)
                item = link.linkTarget.flatMap { schema[$0] }
            } else {
                names.append(column.name)
                return (PropertyPath(names), column)
            }
        }
        return (PropertyPath(["_id"]), schema.classes[0].columns[0])
    }

    mutating func predicate(_ depth: Int = 0) -> Predicate {
        let (path, column) = path()
        let type = schema.storedType(of: column)
        switch int(0...(depth > 3 ? 4 : 9)) {
        case 0 where depth > 0: return .constant(flag())
        case 1: return .isIn(path, (0..<int(0...4)).map { _ in flag(6) ? .null : value(type) })
        case 2, 3:
            guard type == .string else { return compare(path, type) }
            return .text(path, pick(Predicate.TextTest.allCases), text(), ignoringCase: flag())
        case 5, 6: return .and((0..<int(0...3)).map { _ in predicate(depth + 1) })
        case 7, 8: return .or((0..<int(0...3)).map { _ in predicate(depth + 1) })
        case 9: return .not(predicate(depth + 1))
        default: return compare(path, type)
        }
    }

    private mutating func compare(_ path: PropertyPath, _ type: PropertyType) -> Predicate {
        if flag(6) { return .compare(path, flag() ? .equal : .notEqual, .null) }
        // Integer literals beyond a narrow column's range are allowed.
        if case .int = type, flag(5) { return .compare(path, pick(Predicate.Comparison.allCases), .int(.max)) }
        return .compare(path, pick(Predicate.Comparison.allCases), value(type))
    }

    mutating func sortPaths() -> [(PropertyPath, Bool)] { (0..<int(1...3)).map { _ in (path().0, flag()) } }

    /// The value that the oracle expects at a path of a row of A.
    func value(at path: PropertyPath, of row: Row) -> Value { present(at: path, of: row) ?? .null }

    /// Like `value(at:of:)`, but nil if a link on the path is dangling.
    func present(at path: PropertyPath, of row: Row) -> Value? {
        var item = schema["A"]
        var row: Row? = row
        for (position, name) in path.names.enumerated() {
            guard let current = item, let present = row, let index = current.columnIndex(name) else { return nil }
            if position == path.names.count - 1 { return present[index] }
            item = current.columns[index].linkTarget.flatMap { schema[$0] }
            let key = present[index]
            row = key.isNull ? nil : item.flatMap { rows[$0.name]?.first { $0[0] == key } }
        }
        return nil
    }
}
