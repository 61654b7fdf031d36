import Testing
import TomboloModel

@Suite("Previous names of classes and properties")
struct PreviousNameTests {
    @Test("A property is found by its previous names")
    func properties() throws {
        let schema = try Schema.of([Journey.self])
        let journey = try #require(schema["Journey"])
        #expect(journey.columnIndex("cost") == journey.columnIndex("price"))
        #expect(journey.columnIndex("sum") == journey.columnIndex("price"))
        #expect(journey.columnIndex("nothing") == nil)
        for name in ["start.town", "start.city", "origin.town", "origin.city"] {
            #expect(journey.columnIndex(name) == journey.columnIndex("start.town"))
        }
        #expect(journey.columnIndex("origin") == journey.columnIndex("start"))
    }

    @Test("A class is found by its previous names, and so are the elements of its lists")
    func classes() throws {
        let schema = try Schema.of([Journey.self])
        #expect(schema.index(of: "Trip") == schema.index(of: "Journey"))
        for name in ["Journey.stations", "Trip.stops", "Journey.stops", "Trip.stations"] {
            #expect(schema[name]?.name == "Journey.stations")
        }
        for name in ["Journey.stations.notes", "Trip.stops.remarks", "Journey.stations.remarks"] {
            #expect(schema[name]?.name == "Journey.stations.notes")
        }
        #expect(schema["Trip.nothing"] == nil)
    }

    @Test("Documents contain the previous names, and give the same schema")
    func document() throws {
        let document = try ModelDocument(app: "journeys", objectTypes: [Journey.self])
        #expect(document["Journey"]?.previousNames == ["Trip"])
        #expect(document["Journey"]?["price"]?.previousNames == ["cost", "sum"])
        #expect(document.json.contains(#"{"name": "price", "type": "int", "previousNames": ["cost", "sum"]}"#))
        #expect(try ModelDocument(json: document.json).schema() == Schema.of([Journey.self]))
    }

    @Test("A previous name that is also another's present or previous name is a mistake")
    func clashes() {
        let error = #expect(throws: SchemaError.self) { try Schema.of([Clash.self, Other.self]) }
        let problems = error?.problems ?? []
        #expect(
            problems.contains(
                "Clash.a has the previous name 'b', which also means Clash.b: remove it from one of them."))
        #expect(
            problems.contains(
                "Clash.d has the previous name 'x', which also means Clash.c: remove it from one of them."))
        #expect(problems.contains("Clash.c lists the previous name 'c' twice, or still has it."))
        #expect(
            problems.contains(
                "Clash has the previous name 'Other', which also means Other: remove it from one of them."))
        #expect(problems.contains { $0.contains("Clash.previousPropertyNames() names 'e'") })
    }
}

private final class Journey: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var price: Int
    @Persisted var start: Station?
    @Persisted var stations: List<Station>

    override class func previousClassNames() -> [String] { ["Trip"] }
    override class func previousPropertyNames() -> [String: [String]] {
        ["price": ["cost", "sum"], "start": ["origin"], "stations": ["stops"]]
    }
}

private final class Station: EmbeddedObject {
    @Persisted var town: String
    @Persisted var notes: List<Journey>
    override class func previousPropertyNames() -> [String: [String]] { ["town": ["city"], "notes": ["remarks"]] }
}

private final class Clash: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var a: Int
    @Persisted var b: Int
    @Persisted var c: Int
    @Persisted var d: List<Int>
    override class func previousClassNames() -> [String] { ["Other"] }
    override class func previousPropertyNames() -> [String: [String]] {
        ["a": ["b"], "c": ["x", "c"], "d": ["x"], "e": ["y"]]
    }
}

private final class Other: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
}
