import Foundation
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct ClassTableTests {
    enum Kind: String, PersistableEnum { case small, large }

    final class Keeper: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
    }

    final class Animal: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var isTame = false
        @Persisted var legCount = 4
        @Persisted var weight: Double?
        @Persisted var name: String
        @Persisted var bornAt: Date?
        @Persisted var kind = Kind.small
        @Persisted var order: String
        @Persisted var keeper: Keeper?
    }

    private static func schema() throws -> Schema { try Schema.of([Animal.self]) }

    @Test("SQL gets the quoted names of a class's table and columns, including a link's column")
    func names() throws {
        let animals = try ClassTable<Animal>(Self.schema())
        #expect("\(animals)" == "\"animal\"")
        #expect(animals[\._id] == "\"_id\"")
        #expect(animals[\.legCount] == "\"leg_count\"")
        #expect(animals[\.order] == "\"order\"")
        #expect(animals[\.keeper] == "\"keeper\"")
    }

    @Test("A row gives each property the value it would have on an object of the class, and a link its key")
    func row() throws {
        let animals = try ClassTable<Animal>(Self.schema())
        let (id, keeper) = (ObjectId.generate(), ObjectId.generate())
        let row = animals.row(
            Row([
                .objectId(id), .bool(true), .int(3), .null, .string("Rex"), .date(1_500_000), .string("large"),
                .string("dogs"), .objectId(keeper),
            ]))
        #expect(row[\._id] == id)
        #expect(row.key == .objectId(id))
        #expect(row[\.isTame])
        #expect(row[\.legCount] == 3)
        #expect(row[\.weight] == nil)
        #expect(row[\.name] == "Rex")
        #expect(row[\.bornAt] == Date(timeIntervalSince1970: 1.5))
        #expect(row[\.kind] == .large)
        #expect(row[keyOf: \.keeper] == .objectId(keeper))
    }

    @Test("A schema without the class is refused with the class's name")
    func missingClass() throws {
        let error = #expect(throws: ValueError.self) { try ClassTable<Animal>(Schema.of([Keeper.self])) }
        #expect(error?.message.contains("no class Animal") == true)
    }

    @Test(
        "A schema whose class lacks a property, or has it with another type, is refused with the property's name",
        arguments: [nil, PropertyType.string])
    func otherProperty(_ type: PropertyType?) throws {
        let whole = try Self.schema()
        let animal = try #require(whole["Animal"])
        let columns = animal.columns.compactMap { column -> Column? in
            guard column.name == "legCount" else { return column }
            return type.map { Column(name: column.name, type: $0, isOptional: false) }
        }
        let keeper = try #require(whole["Keeper"])
        let other = try Schema([keeper, ClassSchema(name: "Animal", columns: columns)])
        let error = #expect(throws: ValueError.self) { try ClassTable<Animal>(other) }
        let found = type.map { "The database has \($0.name) in" } ?? "The database has no"
        #expect(error?.message.hasPrefix("\(found) Animal.legCount") == true, "\(error?.message ?? "")")
    }
}
