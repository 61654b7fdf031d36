import Testing
import TomboloModel
import TomboloRules
import TomboloServerModel

/// How servers read the documents in a database.
@Suite struct ServerModelTests {
    private static func document(_ app: String, _ classes: [String]) throws -> StoredDocument {
        let document = try ModelDocument(
            app: app,
            classes: classes.map {
                ModelClass(
                    name: $0, table: $0.lowercased(),
                    properties: [
                        ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true),
                        ModelProperty(name: "owner", type: .string),
                    ])
            })
        return StoredDocument(version: 1, app: app, kind: .models, content: document.json)
    }

    private static func rules(_ app: String, _ text: String) -> StoredDocument {
        StoredDocument(version: 2, app: app, kind: .rules, content: text)
    }

    private static func mayRead(_ className: String, _ model: ServerModel) throws -> Bool {
        let index = try #require(model.schema.index(of: className))
        return model.rules.authorize(Subject(user: ObjectId()), .read, .objects(classIndex: index)).isAllowed
    }

    @Test("Development mode opens classes without rules, but not classes with roles or default roles")
    func openClasses() throws {
        let closed = Self.rules("shop", "version: 1\nrules:\n  Order:\n    - {name: nobody, applyWhen: {}}\n")
        let defaults = Self.rules("crm", "version: 1\nrules: {}\ndefaultRoles:\n  - {name: nobody, applyWhen: {}}\n")
        let model = try ServerModel(
            [
                try Self.document("shop", ["Order", "Basket"]), closed, try Self.document("crm", ["Lead"]), defaults,
                try Self.document("notes", ["Note"]),
            ], isOpen: true)
        #expect(try !Self.mayRead("Order", model))
        #expect(try Self.mayRead("Basket", model))
        #expect(try !Self.mayRead("Lead", model), "Default roles are rules too.")
        #expect(try Self.mayRead("Note", model))
    }

    @Test("Without development mode a class without rules is closed")
    func closedClasses() throws {
        let model = try ServerModel([try Self.document("notes", ["Note"])])
        #expect(try !Self.mayRead("Note", model))
    }

    @Test("Two apps with the same class, and rules that don't fit, are refused by name")
    func contradictions() throws {
        let twice = #expect(throws: ServerModelError.self) {
            try ServerModel([try Self.document("shop", ["Order"]), try Self.document("crm", ["Order"])])
        }
        #expect(twice?.description.contains("'crm' and 'shop'") == true, "\(String(describing: twice))")
        let unfit = #expect(throws: ServerModelError.self) {
            try ServerModel([
                try Self.document("shop", ["Order"]),
                Self.rules("shop", "version: 1\nrules:\n  Ordr:\n    - {name: all, applyWhen: {}, read: true}\n"),
            ])
        }
        #expect(unfit?.description.contains("'Order'") == true, "\(String(describing: unfit))")
    }
}
