import Testing

@testable import TomboloModel

private final class Hinted: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var price: Int
    @Persisted var tags: List<String>
    @Persisted var place: HintedPlace?

    override class func propertyHints() -> [String: String] {
        ["price": "In \"cents\":\n\\ 1050 is 10.50.", "tags": "One word each.", "place": "Where it stands."]
    }
}

private final class HintedPlace: EmbeddedObject {
    @Persisted var row: String

    override class func propertyHints() -> [String: String] { ["row": "Counted from the door."] }
}

private final class Misnamed: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var price: Int

    override class func propertyHints() -> [String: String] { ["prise": "In cents."] }
}

/// The hints that model classes give to people who enter values.
@Suite struct PropertyHintTests {
    private static func document(_ hint: String?) throws -> ModelDocument {
        let key = ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true)
        let price = ModelProperty(name: "price", type: .int(bits: 64), hint: hint)
        return try ModelDocument(app: "a", classes: [ModelClass(name: "A", table: "a", properties: [key, price])])
    }

    @Test("hints of values, lists and embedded objects survive a round trip through JSON and reach the schema")
    func whole() throws {
        let document = try ModelDocument(app: "hints", objectTypes: [Hinted.self])
        let read = try ModelDocument(json: document.json)
        #expect(read == document)
        let item = try #require(try read.schema()["Hinted"])
        func hint(_ name: String) throws -> String? { item.columns[try #require(item.columnIndex(name))].hint }
        #expect(try hint("price") == "In \"cents\":\n\\ 1050 is 10.50.")
        #expect(try hint("place") == "Where it stands." && hint("place.row") == "Counted from the door.")
        #expect(item.lists.first { $0.name == "tags" }?.hint == "One word each.")
        #expect(try hint("_id") == nil)
        #expect(try read.schema() == Schema.of([Hinted.self]))
    }

    @Test("a newer document's hints replace the older ones, and change no table")
    func merging() throws {
        let (old, new) = (try Self.document("In cents."), try Self.document("In minor units."))
        let merged = try new.merged(over: old)
        #expect(merged["A"]?["price"]?.hint == "In minor units.")
        #expect(try Self.document(nil).merged(over: old)["A"]?["price"]?.hint == nil)
        #expect(try merged.schema().fingerprint == old.schema().fingerprint)
    }

    @Test("a hint for a missing property is a mistake, as is one that is empty or too long")
    func mistakes() throws {
        let error = #expect(throws: SchemaError.self) { _ = try Schema.of([Misnamed.self]) }
        #expect(error?.description.contains("did you mean 'price'?") == true)
        for hint in ["", String(repeating: "x", count: ModelDocument.maximumHintByteCount + 1)] {
            let error = #expect(throws: ModelDocumentError.self) { try Self.document(hint) }
            #expect(error?.problems.first?.property == "price")
        }
        #expect(try Self.document(String(repeating: "x", count: ModelDocument.maximumHintByteCount)).app == "a")
    }
}
