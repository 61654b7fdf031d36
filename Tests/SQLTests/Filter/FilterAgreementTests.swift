import Foundation
import GRDB
import RandomValues
import Testing
import TomboloModel
import TomboloSQL

@Suite("The whole query language means the same in SQLite and in plain Swift", .timeLimit(.minutes(15)))
struct FilterAgreementTests {
    private static let filtersPerWorld = 120

    private let item: ClassSchema
    private let world: FilterWorld
    private let database: SQLiteDatabase

    init() throws {
        world = try FilterWorld(seed: 1)
        item = try #require(world.schema["Parent"])
        database = try Self.database(of: world)
    }

    private static func database(of world: FilterWorld) throws -> SQLiteDatabase {
        let database = try SQLiteDatabase(world.schema)
        try database.addFilterFunctions()
        for item in world.schema.classes { try database.insert(world.rows[item.name] ?? [], into: item) }
        return database
    }

    private static func keys(_ filter: Filter, _ world: FilterWorld, _ database: SQLiteDatabase) throws -> [Value] {
        var builder = try SQLBuilder(.sqlite, schema: world.schema, className: "Parent", alias: "o")
        let condition = try builder.condition(filter)
        return try database.values(
            "SELECT o._id FROM parent AS o WHERE \(condition) ORDER BY o._id", builder.parameters, .int(bits: 64))
    }

    @Test("Random conditions on random objects select the same objects", arguments: 1...10 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        let world = try FilterWorld(seed: seed)
        let database = try Self.database(of: world)
        let oracle = FilterOracle(world: world)
        var random = RandomFilter(world)
        let parents = world.documents["Parent"] ?? []
        var hits = 0
        for number in 0..<Self.filtersPerWorld {
            let filter = random.filter()
            let expected = parents.filter { oracle.evaluate(filter, [.document($0)]) }.map(\.key)
            let comment: Comment = "seed \(seed), condition \(number): \(filter)"
            do {
                #expect(try Self.keys(filter, world, database) == expected, comment)
                // The condition is never NULL, so its negation selects exactly the other objects.
                let others = try Self.keys(.not(filter), world, database)
                #expect(others.count + expected.count == parents.count, comment)
            } catch {
                Issue.record("\(comment): \(error)")
            }
            if !expected.isEmpty, expected.count < parents.count { hits += 1 }
        }
        // Conditions that hold always or never would prove little.
        #expect(hits > Self.filtersPerWorld / 4, "seed \(seed): only \(hits) conditions tell objects apart")
    }

    @Test(
        "A printed condition parses to one that selects the same objects",
        arguments: 100...103 as ClosedRange<UInt64>)
    func printed(seed: UInt64) throws {
        let world = try FilterWorld(seed: seed)
        let database = try Self.database(of: world)
        var random = RandomFilter(world)
        var readCount = 0
        for number in 0..<Self.filtersPerWorld {
            let filter = random.filter()
            let (format, values) = filter.format()
            // Printed keys can't be passed as arguments, and subqueries can't refer to the enclosing object.
            guard
                let read = try? Filter(
                    parsing: format, arguments: values.map(\.argument), for: "Parent", in: world.schema)
            else { continue }
            readCount += 1
            guard !filter.looksOutOfSubqueries else { continue }
            #expect(
                try Self.keys(read, world, database) == Self.keys(filter, world, database),
                "seed \(seed), condition \(number): \(format)")
        }
        #expect(readCount > Self.filtersPerWorld / 2, "seed \(seed): only \(readCount) could be parsed")
    }

    private func keys(_ format: String, _ arguments: Any?...) throws -> [Int] {
        let filter = try Filter(parsing: format, arguments: arguments, for: "Parent", in: world.schema)
        return try Self.keys(filter, world, database).map { if case .int(let key) = $0 { Int(key) } else { 0 } }
    }

    @Test("On an empty list ALL and NONE hold, ANY doesn't, sums are 0 and extremes nil")
    func empty() throws {
        let all = Array(1...FilterWorld.parentCount)
        let empty = try keys("numbers.@count == 0")
        #expect(!empty.isEmpty && empty.count < all.count)
        for key in empty {
            #expect(try keys("ALL numbers > 1000 AND _id == %@", key) == [key])
            #expect(try keys("NONE numbers > -1000 AND _id == %@", key) == [key])
            #expect(try keys("ANY numbers > -1000 AND _id == %@", key) == [])
            #expect(
                try keys("numbers.@sum == 0 AND numbers.@max == nil AND numbers.@avg == nil AND _id == %@", key) == [
                    key
                ])
            #expect(try keys("(numbers.@max > -1000 OR numbers.@max <= 1000) AND _id == %@", key) == [])
            #expect(try keys("prices.@sum == 0 OR prices.@count > 0") == all)
        }
    }

    @Test("A link whose target doesn't exist is nil, also for IN")
    func missingTargets() throws {
        let column = try #require(item.columnIndex("boss"))
        func bosses(_ world: FilterWorld) -> [Value] { (world.rows["Parent"] ?? []).map { $0[column] } }
        func isMissing(_ boss: Value, _ world: FilterWorld) -> Bool {
            !boss.isNull && world.document("Parent", boss) == nil
        }
        var worlds: [FilterWorld] = []
        for seed in 1...20 as ClosedRange<UInt64> { worlds.append(try FilterWorld(seed: seed)) }
        let world = try #require(worlds.first { world in bosses(world).contains { isMissing($0, world) } })
        let database = try Self.database(of: world)
        func count(_ filter: Filter) throws -> Int { try Self.keys(filter, world, database).count }

        let boss = FilterOperand.property(PropertyPath("boss"))
        let all = bosses(world)
        let none = all.count { $0.isNull || isMissing($0, world) }
        let link = try #require(all.first { !$0.isNull && !isMissing($0, world) })
        let some = all.count { $0 == link }
        #expect(try count(.compare(boss, .equal, .literal(.null), [])) == none)
        #expect(try count(.isIn(boss, [.null], [])) == none)
        #expect(try count(.not(.isIn(boss, [.null], []))) == all.count - none)
        #expect(try count(.isIn(boss, [link, .null], [])) == some + none)
        #expect(try count(.not(.isIn(boss, [.null, link], []))) == all.count - some - none)
        #expect(Filter.isIn(boss, [link, .null], []).looksFurther, "the target may come or go")
        #expect(!Filter.isIn(boss, [link], []).looksFurther)
    }

    @Test("A sum that overflows 64 bits becomes a Double")
    func overflow() throws {
        let schema = try Schema([
            ClassSchema(
                name: "A", columns: [Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)],
                lists: [ListProperty(name: "n", element: .scalar(.int(bits: 64), isOptional: false))])
        ])
        let database = try SQLiteDatabase(schema)
        try database.insert([Row([.int(1)]), Row([.int(2)])], into: schema.classes[0])
        let elements: [(Int64, Int64)] = [(1, .max), (1, .max), (1, .max), (2, .max), (2, -1), (2, .min), (2, .max)]
        try database.insert(
            elements.enumerated().map { index, element in
                Row([.objectId(ObjectId(high: 0, low: UInt32(index))), .int(element.0), .string("r"), .int(element.1)])
            }, into: schema.classes[1])
        func keys(_ format: String) throws -> [Value] {
            var builder = try SQLBuilder(.sqlite, schema: schema, className: "A")
            let condition = try builder.condition(Filter(parsing: format, for: "A", in: schema))
            return try database.values("SELECT _id FROM a WHERE \(condition)", builder.parameters, .int(bits: 64))
        }
        #expect(try keys("n.@sum > 2e19") == [.int(1)])
        #expect(try keys("n.@sum == 9223372036854775805") == [.int(2)])
    }

    @Test("Indexes serve comparisons, ranges and comparisons through a link")
    func indexes() throws {
        try database.execute("CREATE INDEX age_index ON parent (age)")
        try database.execute("CREATE INDEX limit_index ON parent (\"limit\")")
        try database.execute("CREATE INDEX owner_index ON parent_children (owner)")
        func plan(_ format: String) throws -> String {
            var builder = try SQLBuilder(.sqlite, schema: world.schema, className: "Parent", alias: "o")
            let condition = try builder.condition(Filter(parsing: format, for: "Parent", in: world.schema))
            return try database.plan(of: "SELECT * FROM parent AS o WHERE \(condition)", builder.parameters)
                .joined(separator: "\n")
        }
        for format in ["age == 3", "age > 3", "3 < age", "age BETWEEN {1, 3}", "age IN {1, 3}"] {
            #expect(try plan(format).contains("USING INDEX age_index"), "\(format)")
        }
        for format in ["limit == 3", "limit == nil", "limit BETWEEN {1, 3}"] {
            #expect(try plan(format).contains("USING INDEX limit_index"), "\(format)")
        }
        try database.execute("CREATE INDEX boss_index ON parent (boss)")
        #expect(try plan("boss._id == 3").contains("USING INDEX boss_index"))
        #expect(try plan("ANY children.age > 3").contains("owner_index"))
        #expect(try plan("children.@count > 3").contains("owner_index"))
    }

    @Test("Aggregates and distinct values of a class match plain Swift")
    func classAggregates() throws {
        let builder = try SQLBuilder(.sqlite, schema: world.schema, className: "Parent", alias: "o")
        let parents = world.documents["Parent"] ?? []
        func values(_ name: String) -> [Value] {
            parents.compactMap { if case .value(let value)? = $0.fields[name] { value } else { nil } }
        }
        let ages = values("age").compactMap { if case .int(let age) = $0 { age } else { nil } }
        func result(_ aggregate: FilterOperand.Aggregate, _ name: String, _ rows: String = "TRUE") throws -> Value {
            let (sql, type) = try builder.aggregate(aggregate, of: PropertyPath(name))
            return try #require(try database.values("SELECT \(sql) FROM parent AS o WHERE \(rows)", [], type).first)
        }
        #expect(try result(.sum, "age") == .int(ages.reduce(0, +)))
        #expect(try result(.max, "age") == .int(ages.max() ?? 0))
        #expect(try result(.average, "age") == .double(Double(ages.reduce(0, +)) / Double(ages.count)))
        #expect(try result(.sum, "age", "FALSE") == .int(0))
        #expect(try result(.sum, "price", "FALSE") == .decimal(0))
        #expect(try result(.min, "price", "FALSE") == .null)
        #expect(throws: ValueError.self) { try builder.aggregate(.max, of: PropertyPath("order")) }
        let number = try builder.distinctNumber([PropertyPath("age")], orderBy: "o._id")
        let distinct = try database.values(
            "SELECT _id FROM (SELECT o._id, \(number) AS n FROM parent AS o) WHERE n = 1 ORDER BY _id", [],
            .int(bits: 64))
        #expect(distinct.count == Set(ages).count)
    }
}

extension SQLiteDatabase {
    /// Adds the SQL functions that a device's connection has.
    fileprivate func addFilterFunctions() throws {
        @Sendable func text(_ value: DatabaseValue) -> String? { String.fromDatabaseValue(value) }
        @Sendable func options(_ value: DatabaseValue) -> TextFolding {
            TextFolding(rawValue: Int.fromDatabaseValue(value) ?? 0)
        }
        let functions = [
            DatabaseFunction("text_fold", argumentCount: 2, pure: true) { values in
                text(values[0]).map { options(values[1]).fold($0) }
            },
            DatabaseFunction("text_like", argumentCount: 3, pure: true) { values in
                guard let subject = text(values[0]), let pattern = text(values[1]) else { return nil }
                return TextPattern(pattern, folding: options(values[2])).matches(subject)
            },
            DatabaseFunction("decimal_sum", argumentCount: 1, pure: true, aggregate: DecimalSum.self),
            DatabaseFunction("decimal_avg", argumentCount: 1, pure: true, aggregate: DecimalAverage.self),
            DatabaseFunction("decimal_min", argumentCount: 1, pure: true, aggregate: DecimalMinimum.self),
            DatabaseFunction("decimal_max", argumentCount: 1, pure: true, aggregate: DecimalMaximum.self),
        ]
        queue.inDatabase { database in for function in functions { database.add(function: function) } }
    }
}

private class DecimalCollection: DatabaseAggregate {
    var numbers: [Decimal128] = []
    required init() {}
    func step(_ values: [DatabaseValue]) {
        if let number = String.fromDatabaseValue(values[0]).flatMap({ Decimal128($0) }) { numbers.append(number) }
    }
    var result: Decimal128? { nil }
    func finalize() -> (any DatabaseValueConvertible)? { result?.description }
}
private final class DecimalSum: DecimalCollection {
    override var result: Decimal128? { numbers.reduce(0, +) }
}
private final class DecimalAverage: DecimalCollection {
    override var result: Decimal128? { numbers.isEmpty ? nil : numbers.reduce(0, +) / Decimal128(numbers.count) }
}
private final class DecimalMinimum: DecimalCollection {
    override var result: Decimal128? { numbers.min() }
}
private final class DecimalMaximum: DecimalCollection {
    override var result: Decimal128? { numbers.max() }
}

extension Value {
    fileprivate var argument: Any? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .int(let value): value
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): Date(microsecondsSince1970: value)
        case .objectId(let value): value
        case .uuid(let value): value
        case .decimal(let value): value
        }
    }
}

extension Filter {
    /// Whether a condition on elements refers to the enclosing object, so that no SUBQUERY can express it.
    fileprivate var looksOutOfSubqueries: Bool {
        var text = ""
        dump(self, to: &text)
        return description.contains("SUBQUERY") && text.contains("outer")
    }
}
