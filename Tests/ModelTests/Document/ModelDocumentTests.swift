import RandomValues
import Testing
@testable import TomboloModel

@Suite("Model documents")
struct ModelDocumentTests {
    @Test(
        "Swift classes become a document, then JSON, and the same schema again",
        arguments: [
            [Parcel.self], [Room.self, Talk.self, Note.self], [Venue.self], [Depot.self], [Speaker.self, Speaker.self],
        ] as [[Object.Type]])
    func classes(types: [Object.Type]) throws {
        let document = try ModelDocument(app: "sample", objectTypes: types)
        let read = try ModelDocument(json: document.json)
        #expect(read == document)
        #expect(read.json == document.json)
        let expected = try Schema.of(types).withoutLinkingObjects()
        let schema = try read.schema()
        #expect(schema == expected)
        #expect(schema.canonicalText == expected.canonicalText)
        #expect(schema.synchronizationProblems == expected.synchronizationProblems)
    }

    @Test("The JSON has one property per line, in a stable order")
    func text() throws {
        let document = try ModelDocument(app: "venues", objectTypes: [Room.self])
        #expect(
            document.json == """
                {
                  "format": 1,
                  "app": "venues",
                  "classes": [
                    {
                      "name": "Room",
                      "table": "microlocation",
                      "properties": [
                        {"name": "_id", "type": "objectId", "primaryKey": true},
                        {"name": "createdAt", "type": "date"},
                        {"name": "name", "type": "string"},
                        {"name": "floor", "type": "int8?"},
                        {"name": "venue", "type": "link<Venue>?"}
                      ]
                    },
                    {
                      "name": "Venue",
                      "table": "venue",
                      "properties": [
                        {"name": "code", "type": "string", "primaryKey": true},
                        {"name": "city", "type": "string?"}
                      ]
                    }
                  ]
                }

                """)
    }

    @Test("The JSON contains every fact about a class and its properties")
    func everyMember() throws {
        let json = try ModelDocument(app: "parcels", objectTypes: [Parcel.self]).json
        let lines = Set(
            json.split(separator: "\n").map { $0.drop { $0 == " " } }.map { $0.last == "," ? $0.dropLast() : $0 })
        for line in [
            #""name": "Parcel""#, #""table": "parcel_table""#, #""trashable": true"#,
            #""unique": [["string", "int"], ["depot", "origin.town"]]"#, #""embedded": true"#,
            #"{"name": "int", "column": "number", "type": "int"}"#,
            #"{"name": "level", "type": "int?", "values": [1, 9]}"#,
            #"{"name": "date", "type": "date", "indexed": true}"#,
            #"{"name": "levels", "type": "list<int>", "values": [1, 9]}"#,
            #"{"name": "kind", "type": "string", "values": ["talk", "workshop", "break"]}"#,
            #"{"name": "class", "type": "string", "markdown": true}"#,
            #"{"name": "secret", "type": "string?", "encrypted": true}"#,
            #"{"name": "sender", "type": "link<Depot>?", "onDelete": "cascade"}"#,
            #"{"name": "origin", "column": "from_place", "type": "embedded<ParcelPlace>?"}"#,
            #"{"name": "corner", "type": "embedded<StoredParcelPoint>?"}"#,
            #"{"name": "notes", "column": "remarks", "type": "list<string>"}"#,
            #"{"name": "weights", "type": "list<double?>"}"#, #"{"name": "depots", "type": "list<link<Depot>>"}"#,
            #"{"name": "stops", "type": "list<embedded<ParcelPlace>>"}"#,
            #"{"name": "outline", "type": "array<double,float>"}"#, #"{"name": "tags", "type": "array<string>"}"#,
        ] {
            #expect(lines.contains(line[...]), "\(line)\n\(json)")
        }
        #expect(!json.contains("parcels\", \"type"), "LinkingObjects are computed on devices, so documents omit them.")
    }

    @Test("Random documents survive a round trip through JSON, and the order of classes in it doesn't matter")
    func randomDocuments() throws {
        var maker = RandomDocument(random: .printed(for: "random documents"))
        for _ in 0..<300 {
            let document = try maker.make()
            let read = try ModelDocument(json: document.json)
            #expect(read == document)
            #expect(read.json == document.json)
            let schema = try document.schema()
            let readSchema = try read.schema()
            #expect(readSchema == schema)
            #expect(readSchema.canonicalText == schema.canonicalText)
            for item in document.classes where !item.isEmbedded {
                let built = try #require(schema[item.name])
                #expect(built.table == item.table)
                #expect(built.isTrashable == item.isTrashable)
                #expect(built.propertyNames == item.properties.map(\.name))
                for property in item.properties {
                    guard case .list = property.type else {
                        let index = try #require(built.columnIndex(property.name))
                        #expect(built.columns[index].sqlName == property.column)
                        #expect(built.columns[index].type == property.type)
                        continue
                    }
                    #expect(schema["\(item.name).\(property.name)"] != nil)
                }
            }
        }
    }

    @Test("Two embedded classes with the same name are refused if they differ")
    func sameName() throws {
        let error = #expect(throws: SchemaError.self) {
            try ModelDocument(app: "a", objectTypes: [FirstHolder.self, SecondHolder.self])
        }
        #expect(error?.description == "Two classes are named Piece; rename one.")
    }

    @Test("An invalid app name is refused", arguments: ["", "Listings", "1a", "-a", "a b", "ä"])
    func app(name: String) {
        let error = #expect(throws: SchemaError.self) { try ModelDocument(app: name, objectTypes: [Venue.self]) }
        #expect(error?.problems.count == 1)
    }

    @Test("uniqueProperties() must name properties")
    func unique() {
        let error = #expect(throws: SchemaError.self) { try Schema.of([WrongUnique.self]) }
        #expect(error?.description.contains("WrongUnique.uniqueProperties() names 'emial'") == true)
        #expect(error?.description.contains("did you mean 'email'?") == true)
    }

    @Test("A name that PostgreSQL would truncate can't be synchronised, nor be in a document")
    func longNames() throws {
        let problem = try #require(Schema.of([LongName.self]).synchronizationProblems.first)
        #expect(problem.contains("longer than PostgreSQL's limit of 63 bytes"))
        let error = #expect(throws: SchemaError.self) { try ModelDocument(app: "a", objectTypes: [LongName.self]) }
        #expect(error?.description.contains("limit of 63 bytes") == true)
    }
}

extension Schema {
    /// The schema as a document has it, without the LinkingObjects that only devices use.
    func withoutLinkingObjects() throws -> Schema {
        func element(_ element: ListProperty.Element) -> ListProperty.Element {
            if case .embedded(let item) = element { .embedded(changed(item)) } else { element }
        }
        func changed(_ item: ClassSchema) -> ClassSchema {
            ClassSchema(
                name: item.name, table: item.table, columns: item.columns,
                lists: item.lists.map {
                    ListProperty(
                        name: $0.name, element: element($0.element), sqlName: $0.sqlName,
                        allowedValues: $0.allowedValues)
                },
                uniqueProperties: item.uniqueColumns.map { $0.map { item.columns[$0].name } },
                isTrashable: item.isTrashable, owner: item.owner, isEmbedded: item.isEmbedded,
                propertyNames: item.propertyNames)
        }
        return try Schema(classes.filter { $0.owner == nil }.map(changed))
    }
}

private final class FirstHolder: Object {
    final class Piece: EmbeddedObject {
        @Persisted var a: Int
    }
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var piece: Piece?
}

private final class SecondHolder: Object {
    final class Piece: EmbeddedObject {
        @Persisted var b: Int
    }
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var piece: Piece?
}

private final class WrongUnique: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var email: String
    override class func uniqueProperties() -> [[String]] { [["emial"]] }
}

private final class LongName: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var thePlaceWhereTheParcelIsHandedOver: LongPart?
}

private final class LongPart: EmbeddedObject {
    @Persisted var theNameOfThePersonWhoReceivesIt: String
}
