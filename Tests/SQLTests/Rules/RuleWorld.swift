import Foundation
import RandomValues
import TomboloModel
import TomboloRules

/// Random objects, users and rules, built from few values so that many are equal.
struct RuleWorld {
    var random: RandomValues
    let schema: Schema

    static let ids = (0..<4).map { "00000000000000000000000\($0)" }
    static let tokens = (0..<3).map { "6ba7b810-9dad-11d1-80b4-00c04fd430c\($0)" }
    static let texts = ["", "a", "B", "é", "e\u{301}", "a'b\"\\", "10", ids[1], "a=B", "=", "a=10=a"]
    static let numbers: [Int64] = [-1, 0, 1, 2, 9_007_199_254_740_993]
    static let fractions: [Double] = [-1.5, 0, 0.25, 1, 2]
    static let dates: [(text: String, microseconds: Int64)] = [
        ("1970-01-01T00:00:00Z", 0), ("2001-09-09T01:46:40Z", 1_000_000_000_000_000),
        ("2024-02-29T12:00:00Z", 1_709_208_000_000_000),
    ]
    static let roles = ["owner", "editor"]
    static let keys = ["a", "b", "c"]

    init(_ random: RandomValues) throws {
        self.random = random
        schema = try Schema([
            ClassSchema(
                name: "A",
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                    Column(name: "owner", type: .objectId, isOptional: true), Column(name: "name", type: .string),
                    Column(name: "nick", type: .string, isOptional: true), Column(name: "count", type: .int(bits: 64)),
                    Column(name: "small", type: .int(bits: 8), isOptional: true),
                    Column(name: "ratio", type: .double, isOptional: true), Column(name: "flag", type: .bool),
                    Column(name: "token", type: .uuid, isOptional: true),
                    Column(name: "when", type: .date, isOptional: true),
                    Column(name: "price", type: .decimal128, isOptional: true),
                    Column(name: "peer", type: .link(to: "B"), isOptional: true),
                    Column(name: "place", type: .embedded("P"), isOptional: true),
                    Column(name: "place.city", type: .string, isOptional: true),
                    Column(name: "_partition", type: .string, isOptional: true),
                ]),
            ClassSchema(name: "B", columns: [Column(name: "_id", type: .objectId, isPrimaryKey: true)]),
        ])
    }

    mutating func rows(_ count: Int) -> [Row] {
        (0..<count).map { number in
            Row(
                schema.classes[0].columns.map { column in
                    if column.isPrimaryKey { return .int(Int64(number)) }
                    return column.isOptional && random.flag(4) ? .null : value(of: schema.storedType(of: column))
                })
        }
    }

    private mutating func value(of type: PropertyType) -> Value {
        switch type {
        case .bool: return .bool(random.flag())
        case .int(let bits): return .int(bits == 8 ? random.pick([-1, 0, 1, 2]) : random.pick(Self.numbers))
        case .double: return .double(random.pick(Self.fractions))
        case .date: return .date(random.pick(Self.dates).microseconds)
        case .objectId: return (try? ObjectId(string: random.pick(Self.ids))).map(Value.objectId) ?? .null
        case .uuid: return UUID(uuidString: random.pick(Self.tokens)).map(Value.uuid) ?? .null
        case .decimal128: return .decimal(Decimal128(random.pick(Self.fractions)))
        default: return .string(random.pick(Self.texts))
        }
    }

    // MARK: Users

    mutating func subject() -> Subject {
        let ids = Self.ids.compactMap { try? ObjectId(string: $0) }
        let grants = (0..<random.int(0...3)).map { _ in
            RoleGrant(
                role: Role(random.pick(Self.roles)),
                scope: random.pick([nil, .objectId(random.pick(ids)), .string(random.pick(Self.texts)), .int(1)]))
        }
        let subject = Subject(
            user: random.pick(ids), data: ["email": .string(random.pick(Self.texts))], customData: data(depth: 0),
            grants: Set(grants))
        switch random.int(0...5) {
        case 0...1: return subject
        case 2: return subject.inPartition(random.pick([.null, .objectId(random.pick(ids)), .int(1)]))
        default: return subject.inPartition(.string(random.pick(Self.texts)))
        }
    }

    private mutating func data(depth: Int) -> [String: UserValue] {
        var result: [String: UserValue] = [:]
        for key in Self.keys where !random.flag(4) { result[key] = userValue(depth: depth) }
        return result
    }

    private mutating func userValue(depth: Int) -> UserValue {
        switch random.int(0...(depth < 2 ? 9 : 7)) {
        case 0: .null
        case 1: .bool(random.flag())
        case 2: .int(random.pick(Self.numbers))
        case 3: .double(random.pick(Self.fractions))
        case 4: .string(random.pick(Self.texts))
        case 5: .string(random.pick(Self.ids))
        case 6: .string(random.pick(Self.tokens))
        case 7: .string(random.pick(Self.dates).text)
        case 8: .array((0..<random.int(0...3)).map { _ in userValue(depth: depth + 1) })
        default: .object(data(depth: depth + 1))
        }
    }

    // MARK: Rules

    mutating func expression(depth: Int = 0, isAboutUser: Bool = false) -> RuleJSON {
        if random.flag(12) {
            return random.pick([.bool(true), .bool(false), .string("%%true"), .object([RuleJSON.Entry]())])
        }
        let count = random.pick([1, 1, 1, 2, 3])
        var entries: [(String, RuleJSON)] = []
        for _ in 0..<count {
            let entry = condition(depth: depth, isAboutUser: isAboutUser)
            if !entries.contains(where: { $0.0 == entry.0 }) { entries.append(entry) }
        }
        return .object(entries)
    }

    private mutating func condition(depth: Int, isAboutUser: Bool) -> (String, RuleJSON) {
        if depth < 4, random.flag(3) {
            let name = random.pick(["$and", "$or", "%and", "%or", "%nor", "%not", "$not", "%%true", "%%false"])
            if name.hasSuffix("not") || name.hasPrefix("%%") {
                return (name, expression(depth: depth + 1, isAboutUser: isAboutUser))
            }
            let parts = (0..<random.int(1...3)).map { _ in expression(depth: depth + 1, isAboutUser: isAboutUser) }
            return (name, .array(parts))
        }
        if isAboutUser || random.flag(4) { return (reference(), userTest()) }
        let columns = schema.classes[0].columns.filter { $0.name != "place" }
        let column = random.flag(15) ? schema.classes[0].columns.first { $0.name == "place" } : random.pick(columns)
        guard let column else { return ("flag", .bool(true)) }
        return (column.name, fieldTest(column, depth: 0))
    }

    private mutating func reference() -> String {
        random.pick([
            "%%user.id", "%%user.type", "%%user.data.email", "%%user.data.phone", "%%user.custom_data.a",
            "%%user.custom_data.b", "%%user.custom_data.c", "%%user.custom_data.a.b", "%%user.roles",
            "%%user.grants.owner", "%%user.grants.editor", "%%partition", "%%partition.key", "%%partition.value",
        ])
    }

    private static let comparisons = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]

    private mutating func fieldTest(_ column: Column, depth: Int) -> RuleJSON {
        if column.name == "place" { return .object([("$exists", .bool(random.flag()))]) }
        switch random.int(0...7) {
        case 0...1: return operand(column)
        case 2...3: return .object([(random.pick(Self.comparisons), operand(column, allowsNull: false))])
        case 4:
            let items = (0..<random.int(1...3)).map { _ in operand(column) }
            return .object([(random.pick(["$in", "$nin"]), .array(items))])
        case 5:
            let lists = ["%%user.custom_data.a", "%%user.custom_data.b", "%%user.roles", "%%user.grants.owner"]
            return .object([(random.pick(["$in", "$nin"]), .string(random.pick(lists)))])
        case 6: return .object([("$exists", .bool(random.flag()))])
        default:
            guard depth < 2 else { return operand(column) }
            return .object([(random.pick(["$not", "%not"]), fieldTest(column, depth: depth + 1))])
        }
    }

    private mutating func operand(_ column: Column, allowsNull: Bool = true) -> RuleJSON {
        if random.flag(3) {
            let references = [
                "%%user.custom_data.a", "%%user.custom_data.b", "%%user.custom_data.a.c", "%%user.data.email",
            ]
            let holdsID = [.objectId, .string].contains(schema.storedType(of: column))
            let holdsPartition = [.objectId, .string, .uuid, .int(bits: 64)].contains(schema.storedType(of: column))
            return .string(
                random.pick(
                    references + (holdsID ? ["%%user.id", "%%user.id"] : [])
                        + (holdsPartition ? ["%%partition", "%%partition.key", "%%partition.value"] : [])))
        }
        if allowsNull, random.flag(6) { return .null }
        switch schema.storedType(of: column) {
        case .bool: return random.pick([.bool(true), .bool(false), .string("%%true")])
        case .int: return random.flag(4) ? .double(random.pick([0, 1, 2])) : .int(random.pick(Self.numbers))
        case .double, .decimal128:
            return random.flag() ? .int(random.pick([0, 1, 2])) : .double(random.pick(Self.fractions))
        case .date: return .string(random.pick(Self.dates).text)
        case .objectId:
            let id = RuleJSON.string(random.pick(Self.ids))
            return random.pick([id, .object([("%stringToOid", id)]), .object([("$oid", id)])])
        case .uuid: return .string(random.pick(Self.tokens))
        default: return .string(random.pick(Self.texts))
        }
    }

    private mutating func userTest() -> RuleJSON {
        switch random.int(0...5) {
        case 0...1: return userOperand()
        case 2...3: return .object([(random.pick(Self.comparisons), userOperand())])
        case 4:
            let list: RuleJSON =
                random.flag() ? .array((0..<random.int(0...3)).map { _ in userOperand() }) : .string(reference())
            return .object([(random.pick(["$in", "$nin"]), list)])
        default: return .object([("$exists", .bool(random.flag()))])
        }
    }

    private mutating func userOperand() -> RuleJSON {
        switch random.int(0...7) {
        case 0: .null
        case 1: .bool(random.flag())
        case 2: .int(random.pick(Self.numbers))
        case 3: .double(random.pick(Self.fractions))
        case 4: .string(random.pick(Self.texts))
        case 5: .string(random.pick(Self.ids + Self.roles))
        case 6: .array((0..<random.int(0...2)).map { _ in .string(random.pick(Self.texts)) })
        default: .string(reference())
        }
    }
}
