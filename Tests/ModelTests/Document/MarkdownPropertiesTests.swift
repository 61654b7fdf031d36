import Testing

@testable import TomboloModel

/// Which strings contain Markdown, in classes and in model documents.
@Suite struct MarkdownPropertiesTests {
    private static func document(_ type: String, _ more: String = ", \"markdown\": true") -> String {
        """
        {"format": 1, "app": "a", "classes": [{"name": "A", "properties": [
        {"name": "_id", "type": "objectId", "primaryKey": true}, {"name": "b", "type": "\(type)"\(more)}]}]}
        """
    }

    @Test("a class declares which of its strings are Markdown, and so does an embedded class")
    func classes() throws {
        let schema = try ModelDocument(app: "parcels", objectTypes: [Parcel.self]).schema()
        let parcel = try #require(schema["Parcel"])
        #expect(parcel.columns.filter(\.isMarkdown).map(\.name) == ["class", "origin.directions"])
        #expect(try #require(schema["Parcel.stops"]).columns.filter(\.isMarkdown).map(\.name) == ["directions"])
    }

    @Test("markdownProperties() must name strings")
    func mistakes() {
        let error = #expect(throws: SchemaError.self) { try Schema.of([WrongMarkdown.self]) }
        let text = error?.description ?? ""
        #expect(text.contains("WrongMarkdown.markdownProperties() names 'detials', which is not a property"), "\(text)")
        #expect(text.contains("did you mean 'details'?"), "\(text)")
        for name in ["count", "kind", "notes"] {
            #expect(text.contains("names '\(name)', which isn't a String: only strings can be Markdown."), "\(text)")
        }
        #expect(error?.problems.count == 4, "\(text)")
    }

    @Test(
        "a document that marks anything but a plain string as Markdown is refused with the property's name",
        arguments: [
            ("int", #""markdown": true"#), ("data?", #""markdown": true"#), ("list<string>", #""markdown": true"#),
            ("string", #""markdown": "yes""#), ("string", #""markdown": true, "values": ["x"]"#),
        ])
    func refused(type: String, more: String) {
        do {
            _ = try ModelDocument(json: Self.document(type, ", \(more)"))
            Issue.record("\(type), \(more) was accepted.")
        } catch {
            #expect(error.problems.contains { $0.property == "b" && $0.message.lowercased().contains("markdown") })
        }
    }

    @Test("Markdown changes neither tables nor the fingerprint, and the newer document decides")
    func merging() throws {
        let plain = try ModelDocument(json: Self.document("string?", ""))
        let marked = try ModelDocument(json: Self.document("string?"))
        #expect(try marked.schema().fingerprint == plain.schema().fingerprint)
        #expect(!plain.json.contains("markdown"))
        #expect(try marked.merged(over: plain)["A"]?["b"]?.isMarkdown == true)
        #expect(try plain.merged(over: marked)["A"]?["b"]?.isMarkdown == false)
        let key = ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true)
        let gone = try ModelDocument(app: "a", classes: [ModelClass(name: "A", table: "a", properties: [key])])
        let kept = try gone.merged(over: marked)["A"]?["b"]
        #expect(kept?.isRetired == true && kept?.isMarkdown == true)
    }
}

private final class WrongMarkdown: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var details: String
    @Persisted var count: Int
    @Persisted var kind: TalkKind
    @Persisted var notes: List<String>

    override class func markdownProperties() -> [String] { ["detials", "count", "kind", "notes"] }
}
