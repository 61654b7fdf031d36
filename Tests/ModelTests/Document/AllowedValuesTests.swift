import Testing

@testable import TomboloModel

/// The allowed values of enumerations in model documents.
@Suite struct AllowedValuesTests {
    private static func document(_ type: String, _ values: String) -> String {
        """
        {"format": 1, "app": "a", "classes": [{"name": "A", "properties": [
        {"name": "_id", "type": "objectId", "primaryKey": true}, {"name": "b", "type": "\(type)", "values": \(values)}]}]}
        """
    }

    private static func allowed(_ document: ModelDocument) -> AllowedValues? { document["A"]?["b"]?.allowedValues }

    @Test("an enumeration's cases are the allowed values of its property, of an optional one and of a list's elements")
    func cases() throws {
        let schema = try ModelDocument(app: "parcels", objectTypes: [Parcel.self]).schema()
        let parcel = try #require(schema["Parcel"])
        func values(_ name: String) throws -> [Value]? {
            parcel.columns[try #require(parcel.columnIndex(name))].allowedValues?.values
        }
        #expect(try values("kind") == [.string("talk"), .string("workshop"), .string("break")])
        #expect(try values("level") == [.int(1), .int(9)])
        #expect(try values("string") == nil)
        let levels = try #require(schema["Parcel.levels"])
        #expect(levels.columns[ElementColumn.content].allowedValues?.values == [.int(1), .int(9)])
        #expect(levels.columns[ElementColumn.rank].allowedValues == nil)
    }

    @Test("strings with quotes, backslashes and control characters survive a round trip through JSON")
    func escapes() throws {
        let texts = ["", "\"", "\\", "a\nb", "\u{1}", "ümläut 🚢", "/", "null"]
        let property = ModelProperty(
            name: "b", type: .string, allowedValues: AllowedValues(texts.map(Value.string)))
        let key = ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true)
        let document = try ModelDocument(
            app: "a", classes: [ModelClass(name: "A", table: "a", properties: [key, property])])
        let read = try ModelDocument(json: document.json)
        #expect(read == document && Self.allowed(read)?.values == texts.map(Value.string))
    }

    @Test(
        "values that a property can't have are refused with the property's name",
        arguments: [
            ("string", "[]"), ("string", "[1]"), ("string", #"["a", "a"]"#), ("string", #"["a\u0000"]"#),
            ("string", "\"a\""), ("string", "[null]"), ("string", "[true]"), ("int8", "[128]"), ("int8", "[-129]"),
            ("int", "[1.5]"), ("int", #"["1"]"#), ("double", "[1]"), ("bool", "[1]"), ("list<date>", #"["x"]"#),
            ("string", "[\"\(String(repeating: "x", count: AllowedValues.maximumByteCount + 1))\"]"),
            ("int", "[\((0...AllowedValues.maximumCount).map(String.init).joined(separator: ","))]"),
        ])
    func mistakes(type: String, values: String) {
        do {
            _ = try ModelDocument(json: Self.document(type, values))
            Issue.record("\(type) \(values.prefix(80)) was accepted.")
        } catch {
            #expect(error.problems.contains { $0.property == "b" }, "\(error)")
        }
    }

    @Test("the widest values of a type are accepted")
    func bounds() throws {
        #expect(Self.allowed(try ModelDocument(json: Self.document("int8?", "[-128, 127]")))?.values.count == 2)
        #expect(
            Self.allowed(try ModelDocument(json: Self.document("list<string>", #"["a"]"#)))?.values == [.string("a")])
        let all = (0..<AllowedValues.maximumCount).map(String.init).joined(separator: ",")
        #expect(Self.allowed(try ModelDocument(json: Self.document("int", "[\(all)]")))?.values.count == 1_000)
    }

    @Test("a newer document's values replace the older ones without changing the fingerprint")
    func merging() throws {
        let old = try ModelDocument(json: Self.document("string", #"["a", "b"]"#))
        let new = try ModelDocument(json: Self.document("string", #"["b", "c"]"#))
        #expect(Self.allowed(try new.merged(over: old))?.values == [.string("b"), .string("c")])
        #expect(try new.merged(over: old).schema().fingerprint == old.schema().fingerprint)
    }
}
