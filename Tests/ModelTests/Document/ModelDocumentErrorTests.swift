import RandomValues
import Testing
import TomboloModel

@Suite("Model documents that can't be read")
struct ModelDocumentErrorTests {
    /// A JSON document with these classes.
    private static func document(_ classes: String) -> String {
        #"{"format": 1, "app": "a", "classes": [\#(classes)]}"#
    }

    /// A class with a primary key and these properties.
    private static func item(_ name: String = "A", _ properties: String, _ more: String = "") -> String {
        let key = #"{"name": "_id", "type": "objectId", "primaryKey": true}"#
        return
            #"{"name": "\#(name)", \#(more) "properties": [\#(key)\#(properties.isEmpty ? "" : ", ")\#(properties)]}"#
    }

    private static func part(_ name: String, _ properties: String) -> String {
        #"{"name": "\#(name)", "embedded": true, "properties": [\#(properties)]}"#
    }

    private func problems(_ json: String) -> [String] {
        do throws(ModelDocumentError) {
            _ = try ModelDocument(json: json)
            return []
        } catch {
            #expect(!error.problems.isEmpty)
            return error.problems.map(\.description)
        }
    }

    @Test(
        "A duplicate member is reported with its line, however it is written",
        arguments: [
            ("{\"format\": 1,\n\"app\": \"a\", \"app\": \"b\", \"classes\": []}", 2, "app"),
            ("{\"format\": 1, \"app\": \"a\",\n\n\"classes\": [], \"cl\\u0061sses\" : []}", 3, "cl"),
            (document(item("A", #"{"name": "p", "type": "int", "type": "string"}"#)), 1, "type"),
            ("{\"format\": 1, \"app\": \"a\", \"é\": 1,\n\"e\u{301}\": 2, \"classes\": []}", 2, "é"),
        ])
    func repeatedMembers(json: String, line: Int, name: String) {
        #expect(problems(json).first?.hasPrefix("Line \(line): \"\(name)") == true, "\(problems(json))")
    }

    @Test("The same member in several objects, and strings that look like members, are fine")
    func membersThatOnlyLookRepeated() throws {
        let json =
            #"{"format": 1, "app": "a", "classes": [{"name": "A", "properties": [{"name": "name", "type": "int", "primaryKey": true}]}]}"#
        #expect(try ModelDocument(json: json).classes.count == 1)
        #expect(try ModelDocument(json: "\u{FEFF}" + json).classes.count == 1, "A byte order mark should be skipped.")
    }

    @Test(
        "A mistake is reported with class, property and the nearest name",
        arguments: [
            (
                item("A", #"{"name": "price", "type": "integer"}"#), "A.price: 'integer' isn't a type."
            ),
            (
                item("A", #"{"name": "price", "type": "Int"}"#), "A.price: 'Int' isn't a type. Did you mean 'int'?"
            ),
            (
                item("A", #"{"name": "price", "type": "strng?"}"#),
                "A.price: 'strng?' isn't a type. Did you mean 'string?'?"
            ),
            (
                item("A", #"{"name": "prices", "type": "List<int>"}"#),
                "A.prices: 'List<int>' isn't a type. Did you mean 'list<int>'?"
            ),
            (item("A", #"{"name": "p", "type": "list<list<int>>"}"#), "A.p: 'list<list<int>>' isn't a type."),
            (item("A", #"{"name": "p", "type": "list<int>?"}"#), "A.p: 'list<int>?' isn't a type."),
            (item("A", #"{"name": "p", "type": "link<>"}"#), "A.p: 'link<>' isn't a type."),
            (item("A", #"{"name": "p", "type": ""}"#), "A.p: '' isn't a type."),
            (
                item("A", #"{"name": "p", "type": "linkingObjects<A>"}"#), "A.p: 'linkingObjects<A>' isn't a type."
            ),
            (
                item("Person", #"{"name": "p", "type": "link<Persn>?"}"#),
                "Person.p: The class 'Persn' isn't in the document. Did you mean 'Person'?"
            ),
            (
                item("A", #"{"name": "p", "type": "list<link<B>>"}"#),
                "A.p: The class 'B' isn't in the document. Did you mean 'A'?"
            ),
            (
                item("A", #"{"name": "p", "type": "link<Part>?"}"#) + ","
                    + part("Part", #"{"name": "x", "type": "int"}"#),
                "A.p: Part is embedded, so nothing can link to it: write 'embedded<Part>'."
            ),
            (
                item("A", #"{"name": "p", "type": "embedded<A>?"}"#),
                "A.p: A isn't an embedded class: write 'link<A>'."
            ),
            (
                item("A", #"{"name": "p", "type": "embedded<Part>"}"#) + ","
                    + part("Part", #"{"name": "x", "type": "int"}"#),
                "A.p: An embedded object can be nil: write 'embedded<Part>?'."
            ),
            (
                part("Part", #"{"name": "x", "type": "list<int>"}"#),
                "Part.x: In an embedded class, a list of values is stored in one column: write 'array<int>'."
            ),
            (
                item("A", #"{"name": "x", "type": "array<int>"}"#),
                "A.x: Only embedded classes store lists in one column: write 'list<…>'."
            ),
            (
                item("A", #"{"name": "b", "type": "list<int>", "indexed": true}"#),
                "A.b: A list<int> can't be a primary key, indexed or encrypted: only values and links can."
            ),
            (
                part("Part", #"{"name": "x", "type": "int", "primaryKey": true}"#),
                "Part.x: An embedded class can't have a primary key: its owner identifies its objects."
            ),
            (
                item("A", #"{"name": "child", "type": "embedded<B>?"}"#) + ","
                    + part("B", #"{"name": "next", "type": "list<embedded<C>>"}"#) + ","
                    + part("C", #"{"name": "back", "type": "embedded<B>?"}"#),
                "C.back: Cycles containing embedded objects are not supported: 'C.back' leads back to B. "
                    + "Make one of the classes an Object and link to it."
            ),
            (item("A", "") + "," + item("A", ""), "A: The class is declared twice."),
            (
                item("A", "", #""table": "t","#) + "," + item("B", "", #""table": "t","#),
                "Classes A and B both use the table 't'; rename one."
            ),
            (
                item("A", #"{"name": "x", "type": "int"}, {"name": "x", "type": "int"}"#),
                "A.x: The property is declared twice."
            ),
            (
                item("A", #"{"name": "x", "type": "int"}, {"name": "y", "type": "int", "column": "x"}"#),
                "A.x and A.y share the column 'x'."
            ),
            (
                item("A", #"{"name": "k", "type": "int", "primaryKey": true}"#), "A has more than one primary key."
            ),
            (
                #"{"name": "A", "properties": [{"name": "k", "type": "double", "primaryKey": true}]}"#,
                "A.k is a double; a primary key must be an ObjectId, UUID, String or Int."
            ),
            (
                item("A", #"{"name": "x", "type": "int", "onDelete": "cascade"}"#),
                "A.x is not a link, but onDelete applies only to links."
            ),
            (
                item("A", #"{"name": "x", "type": "int", "onDelete": "restrict"}"#),
                #"A.x: "onDelete" must be "cascade" or "nullify", not "restrict"."#
            ),
            (
                item("A", #"{"name": "x", "type": "int", "encrypted": true}"#),
                "A.x is encrypted, but only String and Data properties can be."
            ),
            (
                item("A", #"{"name": "email", "type": "string"}"#, #""unique": [["emial"]],"#),
                #"A: "unique" names 'emial', which isn't a property. Did you mean 'email'?"#
            ),
            (
                item("A", #"{"name": "emails", "type": "list<string>"}"#, #""unique": [["emails"]],"#),
                #"A: "unique" names 'emails', which is a list."#
            ),
            (
                item("A", "", #""unique": [["home.street"]],"#),
                #"A: "unique" names 'home.street', which isn't a property."#
            ),
            (
                item("A", #"{"name": "x", "type": "int", "primarykey": true}"#),
                #"A.x: "primarykey" isn't a member of a property. Did you mean 'primaryKey'?"#
            ),
            (item("A", "", #""tabel": "t","#), #"A: "tabel" isn't a member of a class. Did you mean 'table'?"#),
            (
                item("A", "", #""table": "t", "embedded": true,"#),
                #"A: An embedded class has no table: remove "table" or "embedded"."#
            ),
            (#"{"properties": []}"#, #""name" is missing."#),
            (#"{"name": "A"}"#, #"A: "properties" is missing."#),
            (#"{"name": "A", "properties": [{"type": "int"}]}"#, #"A: "name" is missing."#),
            (#"{"name": "A", "properties": [{"name": "x"}]}"#, #"A.x: "type" is missing."#),
            (#"{"name": "A", "properties": [3]}"#, "A: A property must be a JSON object."),
            (#"{"name": "A", "properties": {}}"#, #"A: "properties" must be an array."#),
            (#"{"name": 7, "properties": []}"#, #""name" must be a string."#),
            ("7", "A class must be a JSON object."),
            (
                #"{"name": "A", "properties": [{"name": "x", "type": 7}]}"#, #"A.x: "type" must be a string."#
            ),
            (
                #"{"name": "A", "properties": [{"name": "x", "type": "int", "indexed": 1}]}"#,
                #"A.x: "indexed" must be true or false."#
            ),
            (
                item("A", "", #""previousNames": "B","#), #"A: "previousNames" must be an array of names."#
            ),
            (item("A", "", #""unique": ["x"],"#), #"A: "unique" must be an array of names."#),
            (item("A b", ""), "A b: 'A b' has characters that Swift names can't contain: use letters, digits and _."),
            (item("A'", ""), "A': 'A'' has characters that Swift names can't contain: use letters, digits and _."),
            (item("1A", ""), "1A: '1A' isn't a valid Swift name."),
            (item("", ""), "The name is empty."),
            (
                item("A", #"{"name": "home.street", "type": "int"}"#),
                "A.home.street: 'home.street' has characters that Swift names can't contain: use letters, digits and _."
            ),
            (
                item("A", "", #""table": "t\"; DROP TABLE x","#),
                "A: The SQL name 't\"; DROP TABLE x' has characters that aren't supported: use letters, digits and _."
            ),
            (
                item("A", #"{"name": "x", "type": "int", "column": "$function$"}"#),
                "A.x: The SQL name '$function$' has characters that aren't supported: use letters, digits and _."
            ),
            (
                item("A", #"{"name": "x", "type": "int", "column": "xmin"}"#),
                "A.x can't use the column name 'xmin', which is reserved by the database: choose another one in "
                    + "propertiesMapping()."
            ),
        ] as [(String, String)])
    func mistake(classes: String, message: String) {
        let found = problems(Self.document(classes))
        #expect(found.contains { $0.hasSuffix(message) }, "\(found)")
    }

    @Test("All mistakes are reported at once")
    func several() {
        let found = problems(
            Self.document(
                Self.item("A", #"{"name": "p", "type": "link<B>?"}, {"name": "q", "type": "number"}"#)
                    + "," + Self.item("C", #"{"name": "r", "type": "int", "index": true}"#)))
        #expect(found.count == 3, "\(found)")
    }

    @Test("A document in a newer format asks to update the program, whatever else it contains")
    func newer() {
        let error = #expect(throws: ModelDocumentError.self) {
            try ModelDocument(json: #"{"format": 2, "models": {"Listing": "new"}}"#)
        }
        #expect(error?.isNewerFormat == true)
        #expect(
            error?.description == "The document has format 2: it was written by a newer version of Tombolo. "
                + "This program reads format 1; update it.")
    }

    @Test(
        "Anything that isn't a model document is refused with an explanation",
        arguments: [
            ("", "The document isn't valid JSON"), ("nonsense", "The document isn't valid JSON"),
            ("[]", "must be a JSON object"), ("{}", "has no \"format\""),
            (#"{"format": "1"}"#, "has no \"format\""), (#"{"format": 0}"#, "format 0, which doesn't exist"),
            (#"{"format": 1.5}"#, "has no \"format\""), (#"{"format": 1}"#, "\"app\" is missing"),
            (#"{"format": 1, "app": "a"}"#, "\"classes\" is missing"),
            (#"{"format": 1, "app": "A b", "classes": []}"#, "The app's name 'A b' must consist of"),
            (#"{"format": 1, "app": "a", "classes": {}}"#, "\"classes\" must be an array"),
            (#"{"format": 1, "app": "a", "classes": [}"#, "around character"),
        ] as [(String, String)])
    func notADocument(json: String, message: String) {
        let found = problems(json)
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test("Endless nesting is refused")
    func nesting() {
        for bracket in ["[", #"{"a":"#] {
            let found = problems(String(repeating: bracket, count: 100_000))
            #expect(found.count == 1 && found[0].contains("The document isn't valid JSON"))
        }
    }

    @Test("Bytes that aren't UTF-8 are refused, as are more bytes than the limit")
    func bytes() {
        let invalid = #expect(throws: ModelDocumentError.self) { try ModelDocument(json: [0x7b, 0xff, 0x7d]) }
        #expect(invalid?.description == "The document isn't valid UTF-8.")
        let large = Array(repeating: UInt8(ascii: " "), count: ModelDocument.maximumByteCount + 1)
        let error = #expect(throws: ModelDocumentError.self) { try ModelDocument(json: large) }
        #expect(error?.description == "The document has 4194305 bytes; the limit is 4194304.")
    }

    @Test("A truncated document is refused, wherever it is cut")
    func truncated() throws {
        let bytes = Array(try ModelDocument(app: "parcels", objectTypes: [Parcel.self]).json.utf8.dropLast())
        for count in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: ModelDocumentError.self) { try ModelDocument(json: Array(bytes.prefix(count))) }
        }
    }

    @Test("Damaged bytes result in an error or a document, and never crash the program")
    func damaged() throws {
        var random = SeededGenerator.printed(for: "damaged model documents")
        let bytes = Array(try ModelDocument(app: "parcels", objectTypes: [Parcel.self]).json.utf8)
        for _ in 0..<500 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = damaged.indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<3, using: &random) {
                case 0: damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: damaged.remove(at: index)
                default: damaged.insert(damaged.randomElement(using: &random) ?? 0, at: index)
                }
            }
            do throws(ModelDocumentError) {
                let document = try ModelDocument(json: damaged)
                #expect((try? document.schema()) != nil)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }

    @Test("Embedded classes that multiply are refused before anything is built")
    func multiplying() {
        func chain(_ type: (Int) -> String) -> String {
            let parts = (0..<15).map { index in
                let properties =
                    index == 14
                    ? #"{"name": "x", "type": "int"}"#
                    : (0..<9).map { position in
                        #"{"name": "p\#(position)", "type": "\#(type(index + 1))"}"#
                    }.joined(separator: ", ")
                return Self.part("Part\(index)", properties)
            }
            return Self.document(
                (parts + [Self.item("A", #"{"name": "root", "type": "\#(type(0))"}"#)]).joined(separator: ","))
        }
        let columns = problems(chain { "embedded<Part\($0)>?" })
        #expect(columns.contains { $0.contains("too many columns") }, "\(columns)")
        let tables = problems(chain { "list<embedded<Part\($0)>>" })
        #expect(tables.contains { $0.contains("more than 5000 tables") }, "\(tables)")
    }

    @Test("Embedded objects can't nest deeper than the limit")
    func deep() {
        let parts = (0..<40).map { index in
            Self.part(
                "Part\(index)",
                index == 39
                    ? #"{"name": "x", "type": "int"}"# : #"{"name": "p", "type": "embedded<Part\#(index + 1)>?"}"#)
        }
        let found = problems(Self.document(parts.joined(separator: ",")))
        #expect(found.contains { $0.contains("more than 16 levels deep") }, "\(found)")
    }

    @Test("The numbers of classes, properties and problems are limited")
    func bounds() {
        let classes = (0...ModelDocument.maximumClassCount).map { Self.item("A\($0)", "") }
        #expect(problems(Self.document(classes.joined(separator: ","))) == [#""classes" has more than 1000 elements."#])
        let properties = (0...ModelDocument.maximumPropertyCount).map { #"{"name": "p\#($0)", "type": "int"}"# }
        #expect(
            problems(Self.document(Self.item("A", properties.joined(separator: ",")))).first
                == #"A: "properties" has more than 1000 elements."#)
        let wrong = (0..<500).map { #"{"name": "p\#($0)", "type": "link<Nobody>?"}"# }
        #expect(problems(Self.document(Self.item("A", wrong.joined(separator: ",")))).count == 100)
    }

    @Test("Long names are shortened in messages")
    func longName() {
        let found = problems(Self.document(Self.item(String(repeating: "a", count: 1_000), "")))
        #expect(found.allSatisfy { $0.utf8.count < 400 }, "\(found)")
        #expect(found.contains { $0.contains("has 1000 bytes; the limit is 63") })
    }
}
