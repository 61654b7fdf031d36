import Testing
import TomboloModel

@Suite("A document that people change")
struct ModelEditingTests {
    private static let key = ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true)
    private static let agent = ModelClass(
        name: "Agent", table: "agent", properties: [key, ModelProperty(name: "email", type: .string)],
        uniqueProperties: [["email"]])
    private static let listing = ModelClass(
        name: "Listing", table: "listing",
        properties: [
            key, ModelProperty(name: "price", type: .int(bits: 64), isIndexed: true, hint: "In euros"),
            ModelProperty(name: "size", column: "square_metres", type: .double),
            ModelProperty(name: "agent", type: .link(to: "Agent"), isOptional: true),
        ])

    private static func document() throws -> ModelDocument {
        try ModelDocument(app: "homes", classes: [agent, listing])
    }

    @Test("adding a class and a property shows up as changes")
    func adding() throws {
        let before = try Self.document()
        let after = try before.adding(ModelClass(name: "Boat", table: "boat", properties: [Self.key]))
            .adding(ModelProperty(name: "notes", type: .string, isOptional: true), to: "Listing")
        #expect(
            after.changes(since: before).map(\.description) == [
                "Boat is added with 1 property.", "Listing.notes is added: string?.",
            ])
        #expect(after.additions(since: before).names == ["Boat", "Listing.notes"])
        #expect(before.additions(since: after).isEmpty && before.changes(since: before).isEmpty)
        #expect(throws: ModelDocumentError.self) { try after.adding(Self.key, to: "Bot") }
        #expect(throws: ModelDocumentError.self) { try after.adding(Self.agent) }
    }

    @Test("a renamed property keeps its attributes, its old name, and its column if that has its own name")
    func renaming() throws {
        let before = try Self.document()
        let after = try before.renaming("price", of: "Listing", to: "cost").renaming("size", of: "Listing", to: "area")
            .renaming("email", of: "Agent", to: "address")
        let cost = try #require(after["Listing"]?["cost"])
        #expect(cost.column == "cost" && cost.previousNames == ["price"] && cost.isIndexed && cost.hint == "In euros")
        #expect(after["Listing"]?["area"]?.column == "square_metres")
        #expect(after["Agent"]?.uniqueProperties == [["address"]])
        let merged = try after.merged(over: before)
        #expect(
            merged.changes(since: before).filter { $0.className == "Listing" }.map(\.description) == [
                "Listing.cost was called price.", "Listing.cost is cost in SQL, formerly price.",
                "Listing.area was called size.",
            ])
        #expect(merged.additions(since: before).isEmpty)
        let back = try after.renaming("cost", of: "Listing", to: "price")
        #expect(back["Listing"]?["price"]?.previousNames == ["cost"])
    }

    @Test("what is removed is retired once merged, and can't be removed while something links to it")
    func removing() throws {
        let before = try Self.document()
        let error = #expect(throws: ModelDocumentError.self) { try before.removing("Agent") }
        #expect(error?.description.contains("Listing.agent") == true)
        let after = try before.removing("agent", of: "Listing").removing("Agent").removing("price", of: "Listing")
        let changes = try after.merged(over: before).changes(since: before)
        #expect(Set(changes.map(\.place)) == ["Agent", "Listing.agent", "Listing.price"])
        #expect(changes.allSatisfy { $0.kind == .retired && $0.isLoss })
        #expect(try before.removing("email", of: "Agent")["Agent"]?.uniqueProperties == [])
        #expect(throws: ModelDocumentError.self) { try before.removing("_id", of: "Listing").merged(over: before) }
    }

    @Test("forbidding values counts as a loss, allowing more doesn't")
    func narrowing() throws {
        func kinds(_ old: [String]?, _ new: [String]?) throws -> [ModelChange.Kind] {
            func document(_ values: [String]?) throws -> ModelDocument {
                let key = ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true)
                let state = ModelProperty(
                    name: "state", type: .string, allowedValues: AllowedValues(values.map { $0.map(Value.string) }))
                return try ModelDocument(
                    app: "homes", classes: [ModelClass(name: "Home", table: "home", properties: [key, state])])
            }
            return try document(new).changes(since: try document(old)).map(\.kind)
        }
        #expect(try kinds(["a", "b"], ["a"]) == [.narrowed] && kinds(nil, ["a"]) == [.narrowed])
        #expect(try kinds(["a"], ["b", "a"]) == [.other] && kinds(["a"], nil) == [.other])
        #expect(try kinds(["a"], ["a"]) == [])
    }

    @Test("additions that a merge is told to keep aren't retired; others are")
    func keeping() throws {
        let old = try Self.document()
        let current = try old.adding(ModelProperty(name: "notes", type: .string, isOptional: true), to: "Listing")
        let merged = try old.merged(over: current, keeping: current.additions(since: old))
        #expect(merged["Listing"]?["notes"]?.isRetired == false)
        #expect(try old.merged(over: current)["Listing"]?["notes"]?.isRetired == true)
    }
}
