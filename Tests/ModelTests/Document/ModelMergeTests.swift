import RandomValues
import Testing
import TomboloModel

@Suite("A newer document over an older one")
struct ModelMergeTests {
    private static let key = ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true)

    private static func item(
        _ name: String, _ properties: [ModelProperty], previous: [String] = []
    ) -> ModelClass {
        ModelClass(
            name: name, table: Column.sqlName(for: name), properties: [key] + properties, previousNames: previous)
    }

    /// The class Listing with these properties.
    private static func item(
        _ properties: [ModelProperty], unique: [[String]] = [], isTrashable: Bool = false
    ) -> ModelClass {
        ModelClass(
            name: "Listing", table: "listing", properties: [key] + properties, uniqueProperties: unique,
            isTrashable: isTrashable)
    }

    private static func document(_ classes: ModelClass...) throws -> ModelDocument {
        try ModelDocument(app: "a", classes: classes)
    }

    private static func int(_ name: String, previous: [String] = [], isRetired: Bool = false) -> ModelProperty {
        ModelProperty(name: name, type: .int(bits: 64), previousNames: previous, isRetired: isRetired)
    }

    @Test("The first document is kept unchanged")
    func first() throws {
        let document = try Self.document(Self.item([Self.int("price")]))
        #expect(try document.merged(over: nil) == document)
        #expect(try document.merged(over: document) == document)
    }

    @Test("Whatever the newer document lacks is retired, and is restored when a later one has it again")
    func retired() throws {
        let old = try Self.document(
            Self.item([
                Self.int("price"), ModelProperty(name: "agent", type: .link(to: "Agent"), isOptional: false),
                ModelProperty(name: "tags", type: .list(.string, isOptional: false)),
            ]), Self.item("Agent", []))
        let new = try Self.document(Self.item([Self.int("rooms")]))
        let merged = try new.merged(over: old)
        let listing = try #require(merged["Listing"])
        #expect(listing.properties.map(\.name) == ["_id", "rooms", "price", "agent", "tags"])
        #expect(listing.properties.map(\.isRetired) == [false, false, true, true, true])
        #expect(listing["agent"]?.isOptional == true, "Newer versions don't write the link, so it must be optional.")
        #expect(merged["Agent"]?.isRetired == true)
        let schema = try merged.schema()
        #expect(schema["Listing"]?.columns.filter(\.isRetired).map(\.name) == ["price", "agent"])
        #expect(schema["Listing.tags"]?.isRetired == true)
        #expect(schema["Agent"]?.isRetired == true)
        #expect(schema["Listing"]?.isRetired == false)
        #expect(try new.merged(over: merged) == merged)
        #expect(try ModelDocument(json: merged.json) == merged)
        let again = try Self.document(Self.item([Self.int("price"), Self.int("rooms")])).merged(over: merged)
        #expect(again["Listing"]?["price"]?.isRetired == false)
    }

    @Test("A renamed property stays the same property, known by each of its previous names")
    func renamedProperty() throws {
        let first = try Self.document(Self.item([Self.int("cost")], unique: [["cost"]]))
        let second = try Self.document(Self.item([Self.int("price", previous: ["cost"])], unique: [["price"]]))
            .merged(over: first)
        let third = try Self.document(Self.item([Self.int("amount", previous: ["price"])])).merged(over: second)
        let amount = try #require(third["Listing"]?["amount"])
        #expect(amount.previousNames == ["price", "cost"])
        #expect(third["Listing"]?.properties.count == 2)
        let item = try #require(try third.schema()["Listing"])
        for name in ["amount", "price", "cost"] { #expect(item.columnIndex(name) == 1) }
        // If a version was skipped, the next one declares an older name.
        let skipped = try Self.document(Self.item([Self.int("amount", previous: ["cost"])])).merged(over: second)
        #expect(skipped["Listing"]?["amount"]?.previousNames == ["cost", "price"])
        let back = try Self.document(Self.item([Self.int("cost", previous: ["amount"])])).merged(over: third)
        #expect(back["Listing"]?["cost"]?.previousNames == ["amount", "price"])
    }

    @Test("A renamed class stays the same class, including in links, lists and embedded objects")
    func renamedClass() throws {
        let part = ModelClass(name: "Part", table: nil, properties: [Self.int("x")])
        let properties = { (agent: String, part: String) in
            [
                ModelProperty(name: "agent", type: .link(to: agent), isOptional: true),
                ModelProperty(name: "agents", type: .list(.link(to: agent), isOptional: false)),
                ModelProperty(name: "part", type: .embedded(part), isOptional: true),
            ]
        }
        let old = try Self.document(Self.item(properties("Agent", "Part")), Self.item("Agent", []), part)
        let piece = ModelClass(name: "Piece", table: nil, properties: [Self.int("x")], previousNames: ["Part"])
        let new = try Self.document(
            Self.item("House", properties("Broker", "Piece"), previous: ["Listing"]),
            Self.item("Broker", [], previous: ["Agent"]), piece)
        let merged = try new.merged(over: old)
        #expect(merged == new)
        let schema = try merged.schema()
        #expect(schema.index(of: "Listing") == schema.index(of: "House"))
        #expect(schema.index(of: "Listing.agents") == schema.index(of: "House.agents"))
        #expect(schema["Agent"]?.name == "Broker")
        let house = try #require(schema["House"])
        #expect(schema.isType("link<Agent>?", of: house.columns[1]))
        #expect(schema.isType("link<Broker>?", of: house.columns[1]))
        #expect(!schema.isType("link<Broker>", of: house.columns[1]))
        #expect(!schema.isType("link<House>?", of: house.columns[1]))
        #expect(schema.isType("embedded<Part>?", of: house.columns[2]))
        #expect(!schema.isType("nonsense", of: house.columns[2]))
    }

    @Test(
        "Changes that would break older versions are refused, with class and property",
        arguments: [
            (
                [item([int("price")])], [item([ModelProperty(name: "price", type: .double)])],
                "Listing.price: Its type was 'int' and can't become 'double'. "
                    + "Add a property with another name and copy the values."
            ),
            (
                [item([ModelProperty(name: "price", type: .string, isOptional: true)])],
                [item([ModelProperty(name: "price", type: .string)])],
                "Listing.price: It was optional and can't become required: older versions write nil. "
                    + "Keep it optional, or add a property with another name."
            ),
            (
                [item([int("a")])],
                [
                    ModelClass(
                        name: "Listing", table: "listing",
                        properties: [ModelProperty(name: "key", type: .objectId, isPrimaryKey: true), int("a")])
                ],
                "Listing: The primary key was '_id' and can't change, because it identifies the objects. Add a class, "
                    + "copy the objects, and stop using this one."
            ),
            (
                [item([int("a")])],
                [
                    ModelClass(
                        name: "Listing", table: "listing",
                        properties: [ModelProperty(name: "_id", type: .uuid, isPrimaryKey: true), int("a")])
                ],
                "Listing._id: Its type was 'objectId' and can't become 'uuid'. "
                    + "Add a property with another name and copy the values."
            ),
            (
                [ModelClass(name: "Part", table: nil, properties: [int("x")])], [item("Part", [int("x")])],
                "Part: It was an embedded class. A class with a table needs a different name."
            ),
            (
                [item("Part", [int("x")])], [ModelClass(name: "Part", table: nil, properties: [int("x")])],
                "Part: It had a table. An embedded class needs a different name."
            ),
            (
                [item([int("price", previous: ["cost"])])], [item([int("cost")])],
                "Listing.cost: 'cost' is a previous name of 'price'. To reuse it, declare 'price' as its previous name."
            ),
            (
                [item([int("price"), int("cost")])], [item([int("amount", previous: ["price", "cost"])])],
                "Listing.amount: It can't replace both 'cost' and 'price'. Remove one from its previous names."
            ),
            (
                [item([int("price")])], [item([int("a", previous: ["price"]), int("price")])],
                "Listing.price: Both Listing.a and Listing.price replace 'price'. Remove it from the previous names of "
                    + "one."
            ),
            (
                [item([ModelProperty(name: "l", type: .list(.string, isOptional: true))])],
                [item([ModelProperty(name: "l", type: .list(.string, isOptional: false))])],
                "Listing.l: Its elements could be nil and can't become required. "
                    + "Add a property with another name and copy the values."
            ),
        ] as [([ModelClass], [ModelClass], String)])
    func refused(old: [ModelClass], new: [ModelClass], message: String) throws {
        // If two properties claim one name, the document is refused before the merge.
        let before = try ModelDocument(app: "a", classes: old)
        do throws(ModelDocumentError) {
            _ = try ModelDocument(app: "a", classes: new).merged(over: before)
            Issue.record("The new document was accepted.")
        } catch {
            let found = error.problems.map(\.description)
            #expect(
                found.contains(message)
                    || found.contains { $0.contains("which also means") && message.contains("Both") },
                "\(found)")
        }
    }

    @Test("A property or a list's elements may become optional")
    func optional() throws {
        let old = try Self.document(
            Self.item([Self.int("price"), ModelProperty(name: "l", type: .list(.string, isOptional: false))]))
        let new = try Self.document(
            Self.item([
                ModelProperty(name: "price", type: .int(bits: 64), isOptional: true),
                ModelProperty(name: "l", type: .list(.string, isOptional: true)),
            ]))
        #expect(try new.merged(over: old) == new)
    }

    @Test("A class that had a trash keeps it")
    func trash() throws {
        let old = try Self.document(Self.item([], isTrashable: true))
        #expect(try Self.document(Self.item([])).merged(over: old)["Listing"]?.isTrashable == true)
    }

    @Test("Documents of two apps aren't merged")
    func apps() throws {
        let other = try ModelDocument(app: "b", classes: [Self.item([])])
        let error = #expect(throws: ModelDocumentError.self) { try Self.document().merged(over: other) }
        #expect(error?.description == "A document of the app 'a' can't replace one of the app 'b'.")
    }

    @Test("A document from a device, of any version, only adds")
    func additive() throws {
        let server = try Self.document(
            Self.item([Self.int("price", previous: ["cost"]), Self.int("rooms")], unique: [["price", "rooms"]]),
            Self.item("Agent", []))
        let older = try Self.document(Self.item([Self.int("cost")]))
        #expect(try older.merged(over: server, retiringMissing: false) == server)
        let newer = try Self.document(
            Self.item("House", [Self.int("amount", previous: ["price"]), Self.int("size")], previous: ["Listing"]),
            Self.item("Seller", []))
        let merged = try newer.merged(over: server, retiringMissing: false)
        #expect(merged.classes.map(\.name) == ["Agent", "House", "Seller"])
        let house = try #require(merged["House"])
        #expect(house.table == "house")
        #expect(house.previousNames == ["Listing"])
        #expect(house.properties.map(\.name) == ["_id", "amount", "rooms", "size"])
        #expect(house["amount"]?.previousNames == ["price", "cost"])
        #expect(house.uniqueProperties == [["amount", "rooms"]])
        #expect(house.properties.allSatisfy { !$0.isRetired })
        // Merging the same document again, in any version, changes nothing.
        #expect(try newer.merged(over: merged, retiringMissing: false) == merged)
        #expect(try older.merged(over: merged, retiringMissing: false) == merged)
        #expect(try server.merged(over: merged, retiringMissing: false) == merged)
    }

    @Test("Merging random documents twice changes nothing, and nothing is lost")
    func randomDocuments() throws {
        var maker = RandomDocument(random: .printed(for: "merging random documents"))
        var merged = 0
        for _ in 0..<300 {
            let old = try maker.make()
            // Unrelated documents are rarely compatible; the next version of the same app always is.
            let another = try ModelDocument(app: old.app, classes: try maker.make().classes)
            let next = try ModelDocument(app: old.app, classes: old.classes.map { Self.next($0, &maker.random) })
            for (new, retires) in [(another, true), (another, false), (next, true), (next, false)] {
                guard let result = try? new.merged(over: old, retiringMissing: retires) else { continue }
                merged += 1
                #expect(try new.merged(over: result, retiringMissing: retires) == result)
                #expect(try ModelDocument(json: result.json) == result)
                let schema = try result.schema()
                for item in old.classes + new.classes where !item.isEmbedded {
                    let built = try #require(schema[item.name])
                    for property in item.properties {
                        guard case .list = property.type else {
                            #expect(built.columnIndex(property.name) != nil)
                            continue
                        }
                        #expect(schema["\(item.name).\(property.name)"] != nil)
                    }
                }
            }
        }
        #expect(merged >= 600)
    }

    /// A copy of the class that lacks some of its properties and has a new one.
    private static func next(_ item: ModelClass, _ random: inout SeededGenerator) -> ModelClass {
        var kept = item.properties.filter { $0.isPrimaryKey || Int.random(in: 0..<4, using: &random) > 0 }
        kept.append(ModelProperty(name: "brought", type: .int(bits: 64), isOptional: true))
        let names = Set(kept.map(\.name))
        return ModelClass(
            name: item.name, table: item.table, properties: kept,
            uniqueProperties: item.uniqueProperties.filter { names.isSuperset(of: $0) },
            isTrashable: item.isTrashable, previousNames: item.previousNames, isRetired: item.isRetired)
    }

    @Test("Two apps in one database need different classes and tables")
    func twoApps() throws {
        let first = try ModelDocument(app: "shop", classes: [Self.item("Order", [])])
        let second = try ModelDocument(app: "kitchen", classes: [Self.item("Dish", [])])
        #expect(try ModelDocument.schema(of: [first, second]).classes.map(\.name) == ["Dish", "Order"])
        #expect(try ModelDocument.schema(of: []).classes.isEmpty)
        let sameClass = try ModelDocument(app: "kitchen", classes: [Self.item("Order", [])])
        let error = #expect(throws: SchemaError.self) { try ModelDocument.schema(of: [first, sameClass]) }
        #expect(
            error?.description
                == "The apps 'shop' and 'kitchen' both have a class Order: apps that share a database need different class "
                + "names. Rename one.")
        let sameTable = try ModelDocument(
            app: "kitchen", classes: [ModelClass(name: "Ticket", table: "order", properties: [Self.key])])
        let other = #expect(throws: SchemaError.self) { try ModelDocument.schema(of: [first, sameTable]) }
        #expect(other?.description.contains("both use the table 'order'") == true)
    }
}
