import Foundation
import Testing
@testable import TomboloModel

@Suite("Embedded objects, lists and projections in the schema")
struct EmbeddedSchemaTests {
    @Test("An embedded object has a presence column and a column for each property")
    func flattened() throws {
        let schema = try Schema.of([Order.self])
        let order = try #require(schema["Order"])
        #expect(
            order.columns.map(\.name) == [
                "_id", "shipTo", "shipTo.street", "shipTo.tags", "shipTo.place", "shipTo.place.x", "shipTo.place.y",
                "origin", "origin.x", "origin.y", "total",
            ])
        #expect(
            order.columns.map(\.sqlName) == [
                "_id", "ship_to", "ship_to_street", "ship_to_tags", "ship_to_place", "ship_to_place_x",
                "ship_to_place_y", "origin", "origin_x", "origin_y", "sum",
            ])
        #expect(order.columns[1].type == .embedded("Address"))
        #expect(order.columns[2].isOptional)
        #expect(order.columns[2].isRequiredWhenPresent)
        #expect(order.columns[3].type == .array([.string]))
        #expect(schema["Address"] == nil)
    }

    @Test("Lists get their own tables; a nested list's table refers to its parent element")
    func lists() throws {
        let schema = try Schema.of([Order.self])
        #expect(schema["Order"]?.lists.map(\.name) == ["shipTo.residents", "notes", "items", "route"])
        let notes = try #require(schema["Order.notes"])
        #expect(notes.columns.map(\.name) == ["_id", "owner", "rank", "value"])
        #expect(notes.columns[3].isOptional)
        let items = try #require(schema["Order.items"])
        #expect(items.columns.map(\.name) == ["_element", "_owner", "_rank", "name", "path"])
        #expect(items.columns[4].type == .array([.double, .double]))
        #expect(items.parentColumn == nil)
        let parts = try #require(schema["Order.items.parts"])
        #expect(parts.columns.map(\.name) == ["_element", "_owner", "_rank", "number", "_parent"])
        #expect(parts.parentColumn == 4)
        #expect(parts.table == "order_items_parts")
        #expect(schema["Order.shipTo.residents"]?.table == "order_ship_to_residents")
        let root = try #require(schema.index(of: "Order"))
        #expect(
            schema.elementClassIndexes(of: root).map { schema[$0].name } == [
                "Order.shipTo.residents", "Order.notes", "Order.items", "Order.items.parts", "Order.route",
            ])
        let index = try #require(schema.index(of: "Order.items"))
        #expect(schema.elementClassIndex(of: index, list: 0) == schema.index(of: "Order.items.parts"))
        #expect(schema.rootClassIndex(of: try #require(schema.index(of: "Order.items.parts"))) == root)
    }

    @Test("A class that embeds itself is refused, with what to do instead")
    func cycle() {
        let error = #expect(throws: SchemaError.self) { try Schema.of([Forest.self]) }
        #expect(
            error?.description.contains("Cycles containing embedded objects are not supported: 'Tree.child'") == true)
    }

    @Test("Names in primaryKey(), indexedProperties() and propertiesMapping() must be properties")
    func slips() {
        let error = #expect(throws: SchemaError.self) { try Schema.of([Slip.self]) }
        #expect(error?.description.contains("Slip.primaryKey() names 'idd'") == true)
        #expect(error?.description.contains("did you mean 'id'?") == true)
    }

    @Test("Arrays stored in a column round-trip, and no bytes trap the decoder")
    func arrays() {
        let types: [PropertyType] = [.double, .string, .int(bits: 64)]
        let elements: [[Value]] = (0..<20).map {
            [.double(Double($0) / 3), $0 % 3 == 0 ? .null : .string("é\($0)"), .int(Int64($0) - 10)]
        }
        let data = ArrayCoding.encode(elements, types)
        #expect(ArrayCoding.decode(data, types) == elements)
        #expect(ArrayCoding.decode(ArrayCoding.empty, types) == [])
        let nils = [[Value]](repeating: [.null], count: 1_000)
        #expect(ArrayCoding.decode(ArrayCoding.encode(nils, [.double]), [.double]) == nils)
        for count in 0..<data.count { #expect(ArrayCoding.decode(data.prefix(count), types) == nil) }
        for index in data.indices {
            for bit in 0..<8 {
                var damaged = data
                damaged[index] ^= 1 << bit
                _ = ArrayCoding.decode(damaged, types)
            }
        }
    }

    @Test("A list in one column has no more elements than can be read back")
    func longArray() throws {
        let column = Column(name: "flags", type: .array([.bool]))
        #expect(ArrayCoding.maximumCount == 0x10_0000)
        try column.validate(.data(Data([0x80, 0x80, 0x40])))
        #expect(throws: ValueError.self) { try column.validate(.data(Data([0x81, 0x80, 0x40]))) }
    }

    @Test("An unmanaged list behaves like an array")
    func list() {
        let list = List<Int>()
        list.append(objectsIn: 0..<10)
        list.move(from: 2, to: 5)
        #expect(Array(list) == [0, 1, 3, 4, 5, 2, 6, 7, 8, 9])
        list.move(from: 5, to: 2)
        list.swapAt(1, 8)
        #expect(Array(list) == [0, 8, 2, 3, 4, 5, 6, 7, 1, 9])
        list.removeSubrange(2...7)
        list.removeFirst()
        list.removeLast()
        list[0] = 7
        #expect(Array(list) == [7, 1])
    }
}

private final class Order: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var shipTo: Address?
    @Persisted var origin: Point
    @Persisted var total = 0
    @Persisted var notes: List<String?>
    @Persisted var items: List<Item>
    @Persisted var route: List<Point>
    override class func propertiesMapping() -> [String: String] { ["total": "sum"] }
}

private final class Address: EmbeddedObject {
    @Persisted var street: String
    @Persisted var tags: List<String>
    @Persisted var place: StoredPoint?
    @Persisted var residents: List<Person>
}

private final class Item: EmbeddedObject {
    @Persisted var name: String
    @Persisted var path: List<Point>
    @Persisted var parts: List<Part>
}

private final class Part: EmbeddedObject {
    @Persisted var number: Int
}

private final class Person: Object {
    @Persisted var name: String
}

private final class StoredPoint: EmbeddedObject {
    @Persisted var x: Double
    @Persisted var y: Double
}

private struct Point: CustomPersistable {
    var x = 0.0
    var y = 0.0
    init() {}
    init(persistedValue: StoredPoint) {
        x = persistedValue.x
        y = persistedValue.y
    }
    var persistableValue: StoredPoint {
        let point = StoredPoint()
        point.x = x
        point.y = y
        return point
    }
}

private final class Forest: Object {
    @Persisted var tree: Tree?
}

private final class Tree: EmbeddedObject {
    @Persisted var child: Tree?
}

private final class Slip: Object {
    @Persisted var id: Int
    override class func primaryKey() -> String? { "idd" }
}
