import Foundation
import Testing
import TomboloModel

@testable import TomboloSQLiteStore

@Suite("The schema stored in a file")
struct StoredSchemaTests {
    private static let key = Column(name: "_id", type: .objectId, isPrimaryKey: true)

    private static let part = ClassSchema(
        name: "Part",
        columns: [Column(name: "size", type: .double), Column(name: "path", type: .array([.double, .string]))],
        lists: [ListProperty(name: "sources", target: "Owner")], isEmbedded: true)

    /// Every type, an embedded object with a list inside, and lists of all kinds.
    private static func schema() throws -> Schema {
        let scalars: [PropertyType] = [
            .bool, .int(bits: 64), .int(bits: 8), .int(bits: 16), .int(bits: 32), .float, .double, .decimal128, .string,
            .data, .date, .objectId, .uuid, .array([.int(bits: 64)]),
        ]
        let columns = scalars.enumerated().map { Column(name: "p\($0)", type: $1, isOptional: $0 % 2 == 0) }
        let presence = Column(name: "part", type: .embedded("Part"), isOptional: true)
        return try Schema([
            ClassSchema(
                name: "Owner",
                columns: [
                    key, Column(name: "shortURL", sqlName: "other", type: .string, isIndexed: true),
                    Column(name: "note", type: .link(to: "Note"), isOptional: true, deleteRule: .cascade),
                    Column(name: "token", type: .string, isOptional: true, isEncrypted: true),
                ] + columns + [presence]
                    + part.columns.map {
                        Column(
                            name: "part.\($0.name)", sqlName: "part_\($0.sqlName)", type: $0.type, isOptional: true,
                            isRequiredWhenPresent: true)
                    },
                lists: [
                    ListProperty(name: "friends", target: "Owner"),
                    ListProperty(name: "tags", element: .scalar(.string, isOptional: true)),
                    ListProperty(name: "parts", element: .embedded(part)),
                    ListProperty(name: "part.sources", element: .link(to: "Owner"), sqlName: "part_sources"),
                ]),
            ClassSchema(name: "Note", columns: [Column(name: "text", type: .string)]),
        ])
    }

    @Test("Classes and whole schemas round-trip through their text")
    func roundTrip() throws {
        let schema = try Self.schema()
        let stored = StoredSchema(FileLayout(schema))
        for item in stored.sorted { #expect(StoredClass(name: item.name, text: item.text) == item, "\(item.text)") }
        // A file doesn't record the order of a class's lists.
        #expect(try Self.classTexts(stored.schema()) == Self.classTexts(schema))
        #expect(StoredClass(name: "Talk", text: "talk\nprice money") == nil)
    }

    @Test(
        "A property may be named like any keyword of the text form",
        arguments: ["key", "indexed", "required", "encrypted", "cascade", "column", "@embedded2", "is key", "a  b"])
    func wordsAsNames(name: String) throws {
        let plain = ClassSchema(name: "Odd", columns: [Column(name: name, type: .string)])
        let marked = ClassSchema(
            name: "Odd",
            columns: [
                Column(name: "id", type: .int(bits: 64), isPrimaryKey: true),
                Column(name: name, sqlName: "other \(name)", type: .string, isIndexed: true),
                Column(name: "\(name)2", type: .link(to: "Odd"), isOptional: true, deleteRule: .cascade),
                Column(name: "\(name)3", type: .data, isEncrypted: true, isRequiredWhenPresent: true),
            ])
        for item in [StoredClass(plain), StoredClass(marked)] {
            #expect(StoredClass(name: "Odd", text: item.text) == item, "\(item.text)")
        }
    }

    @Test("An embedded class may have a property named like the parent column")
    func parentProperty() throws {
        let part = ClassSchema(
            name: "Part",
            columns: [Column(name: "size", type: .double), Column(name: "_parent", type: .string, isOptional: true)],
            isEmbedded: true)
        let schema = try Schema([
            ClassSchema(
                name: "Owner", columns: [Self.key], lists: [ListProperty(name: "parts", element: .embedded(part))])
        ])
        let stored = StoredSchema(FileLayout(schema))
        #expect(stored["Owner.parts"]?.content.map(\.name) == ["size", "_parent"])
        #expect(try stored.schema().canonicalText == schema.canonicalText)
    }

    private static func classTexts(_ schema: Schema) -> Set<String> {
        Set("\n\(schema.canonicalText)".components(separatedBy: "\nclass "))
    }

    @Test("A difference inside an embedded class is reported once, under that class's name")
    func embeddedDifferences() throws {
        let old = StoredSchema(FileLayout(try Self.schema()))
        var new = old
        for name in ["Owner", "Owner.parts"] {
            for position in new.classes[name]?.properties.indices ?? 0..<0 {
                if new.classes[name]?.properties[position].name.hasSuffix("size") == true {
                    new.classes[name]?.properties[position].type = .string
                }
            }
        }
        new.classes["Owner.tags"]?.properties[ElementColumn.content].type = .int(bits: 64)
        new.classes["Owner"]?.properties.removeAll { $0.name == "note" }
        #expect(
            SchemaDifferences(from: old, to: new).sentences == [
                "Property 'Owner.note' has been removed.",
                "Property 'Owner.tags' has been changed from 'array<string?>' to 'array<int?>'.",
                "Property 'Part.size' has been changed from 'double' to 'string'.",
            ])
        #expect(SchemaDifferences(from: old, to: old).isEmpty)
    }

    @Test("Indexes, integer widths and classes on one side only aren't differences")
    func noDifferences() throws {
        let old = StoredSchema(FileLayout(try Self.schema()))
        var new = old
        new.classes["Owner"]?.properties[1].isIndexed = false
        if let position = new["Owner"]?.index(of: "p2") {
            new.classes["Owner"]?.properties[position].type = .int(bits: 64)
        }
        new.classes["Note"] = nil
        #expect(SchemaDifferences(from: old, to: new).isEmpty)
        #expect(SchemaDifferences(from: new, to: old).isEmpty)
    }
}
