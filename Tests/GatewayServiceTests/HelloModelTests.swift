import RandomValues
import Testing
import TomboloModel
import TomboloServerModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

/// What development mode makes of a device's hello.
@Suite struct HelloModelTests {
    private static let none = try? ServerModel([])

    private static func stored(_ documents: [ModelDocument], version: Int64 = 1) -> [StoredDocument] {
        documents.map { StoredDocument(version: version, app: $0.app, kind: .models, content: $0.json) }
    }

    @Test("A server that adds what a device brings serves the device, and a second device of the kind adds nothing")
    func randomModels() throws {
        var maker = RandomDocument(
            random: .printed(for: "models that devices bring"), isSynchronizable: true)
        for _ in 0..<40 {
            let schema = try maker.make().schema()
            let hello = HelloClass.describe(schema)
            let added = try HelloModel.additions(of: hello, to: try #require(Self.none))
            #expect(added.map(\.app) == [ServerModel.developmentApp])
            let model = try ServerModel(Self.stored(added), isOpen: true)
            #expect(ServerSession.serves(hello, with: model.schema), "\(schema.canonicalText)")
            #expect(try HelloModel.additions(of: hello, to: model).isEmpty)
        }
    }

    @Test("A property that a device brings is added to the document that has the class")
    func newProperty() throws {
        let document = try ModelDocument(
            app: "shop",
            classes: [
                ModelClass(
                    name: "Item", table: "items",
                    properties: [
                        ModelProperty(name: "key", type: .uuid, isPrimaryKey: true),
                        ModelProperty(name: "name", type: .string, isIndexed: true),
                    ])
            ])
        let model = try ServerModel(Self.stored([document]))
        let hello = [
            HelloClass(name: "Item", columns: ["key: uuid", "price: int?"]),
            HelloClass(name: "Order", columns: ["_id: objectId", "item: link<Item>?"]),
        ]
        let added = try HelloModel.additions(of: hello, to: model)
        #expect(added.map(\.app) == ["shop"], "A class that links to an app's classes belongs to the app.")
        let item = try #require(added.first?["Item"])
        #expect(item.table == "items")
        #expect(item.properties.map(\.name) == ["key", "name", "price"])
        #expect(item["name"]?.isIndexed == true)
        #expect(added.first?["Order"]?["item"]?.type == .link(to: "Item"))
    }

    @Test(
        "Classes that can't be understood are refused with what is wrong",
        arguments: [
            (HelloClass(name: "Note", columns: ["_id"]), "expected 'name: type'"),
            (HelloClass(name: "Note", columns: ["_id: objectid"]), "expected 'name: type'"),
            (HelloClass(name: "Note", columns: ["id: int", "text: string"]), "primary key is called '_id'"),
            (HelloClass(name: "Note", columns: ["_id: int", "to: link<Missing>?"]), "Missing"),
            (HelloClass(name: "drop table", columns: ["_id: int"]), "drop table"),
            (HelloClass(name: "Note", columns: ["_id: int", "a\"b: int"]), "a\"b"),
        ])
    func badClasses(hello: HelloClass, reason: String) throws {
        let error = #expect(throws: ModelDocumentError.self) {
            try HelloModel.additions(of: [hello], to: try #require(Self.none))
        }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }
}
