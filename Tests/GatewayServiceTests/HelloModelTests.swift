import Logging
import RandomValues
import Testing
import TomboloModel
import TomboloServerModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

/// What development mode adds to the model for a device's hello.
@Suite struct HelloModelTests {
    private static let none = try? ServerModel([])

    private static func stored(_ documents: [ModelDocument], version: Int64 = 1) -> [StoredDocument] {
        documents.map { StoredDocument(version: version, app: $0.app, kind: .models, content: $0.json) }
    }

    @Test("A server that adds a device's classes can serve the device, and a second such device adds nothing")
    func randomModels() throws {
        var maker = RandomDocument(
            random: .printed(for: "models that devices bring"), isSynchronizable: true)
        for _ in 0..<40 {
            let schema = try maker.make().schema()
            let hello = HelloClass.describe(schema)
            let none = try #require(Self.none)
            let added = try #require(try HelloModel.addition(of: hello, to: none))
            #expect(added.app == ServerModel.developmentApp)
            let model = try ServerModel(Self.stored([added]), isOpen: true)
            #expect(ServerSession.serves(hello, with: model.schema), "\(schema.canonicalText)")
            #expect(try HelloModel.addition(of: hello, to: model) == nil)
        }
    }

    private static let shop = try? ModelDocument(
        app: "shop",
        classes: [
            ModelClass(
                name: "Item", table: "items",
                properties: [
                    ModelProperty(name: "key", type: .uuid, isPrimaryKey: true),
                    ModelProperty(name: "name", type: .string, isIndexed: true),
                ], previousNames: ["Article"])
        ])

    @Test("A property that a device brings is added to a class that development mode added")
    func newProperty() throws {
        let shop = try #require(Self.shop)
        let first = try HelloModel.addition(
            of: [HelloClass(name: "Note", columns: ["_id: uuid", "text: string"])],
            to: try ServerModel(Self.stored([shop])))
        let model = try ServerModel(Self.stored([shop, try #require(first)]))
        let hello = [
            HelloClass(name: "Item", columns: ["key: uuid"]),
            HelloClass(name: "Note", columns: ["_id: uuid", "stars: int?"]),
            HelloClass(name: "Page", columns: ["_id: objectId", "note: link<Note>?"]),
        ]
        let added = try #require(try HelloModel.addition(of: hello, to: model))
        #expect(added.app == ServerModel.developmentApp)
        #expect(added.classes.map(\.name) == ["Note", "Page"])
        #expect(added["Note"]?.properties.map(\.name) == ["_id", "text", "stars"])
        #expect(added["Page"]?["note"]?.type == .link(to: "Note"))
    }

    @Test(
        "The classes of an app's document stay as they are, whatever a device says about them",
        arguments: [
            HelloClass(name: "Item", columns: ["key: uuid", "price: int?"]),
            HelloClass(name: "Item", columns: ["key: uuid", "name: string?"]),
            HelloClass(name: "Article", columns: ["key: uuid", "price: int?"]),
            HelloClass(name: "Item", columns: ["key: string"]),
        ])
    func classesOfApps(hello: HelloClass) throws {
        let model = try ServerModel(Self.stored([try #require(Self.shop)]))
        #expect(try HelloModel.addition(of: [hello], to: model) == nil)
        let new = HelloClass(name: "Note", columns: ["_id: uuid"])
        let error = #expect(throws: ModelDocumentError.self, "A device that is refused leaves nothing behind.") {
            try HelloModel.addition(of: [hello, new], to: model)
        }
        #expect(error?.description.contains("migration-tool apply") == true, "\(String(describing: error))")
    }

    @Test("A class that links to an app's class belongs in the app's document")
    func linkToAnApp() throws {
        let model = try ServerModel(Self.stored([try #require(Self.shop)]))
        let hello = [
            HelloClass(name: "Item", columns: ["key: uuid"]),
            HelloClass(name: "Order", columns: ["_id: objectId", "item: link<Item>?"]),
        ]
        let error = #expect(throws: ModelDocumentError.self) { try HelloModel.addition(of: hello, to: model) }
        #expect(
            error?.description.contains("Add Order to that app's document") == true, "\(String(describing: error))")
    }

    @Test("What can't be added yet fails as unavailable and can be retried; what can never be added is a bad schema")
    func failures() async throws {
        let hello = [HelloClass(name: "Note", columns: ["_id: uuid"])]
        func failure(_ error: any Error) async throws -> SessionFailure? {
            let mode = DevelopmentMode(
                add: { _ in throw error }, logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
            return await #expect(throws: SessionFailure.self) {
                try await mode.extend(try #require(Self.none), by: hello)
            }
        }
        let delayed = try await failure(DevelopmentMode.Delay("Others use the table."))
        #expect(delayed?.code == .unavailable && delayed?.isRetryable == true)
        #expect(delayed?.message.contains("Others use the table.") == true)
        let refused = try await failure(CancellationError())
        #expect(refused?.code == .badSchema && refused?.isRetryable == false)
    }

    /// Never finishes adding what devices bring.
    private struct SlowSource: ModelSource {
        func newest() async throws -> GatewayModel { throw CancellationError() }
        func newest(on schema: Schema) async throws -> GatewayModel { throw CancellationError() }
        func store(for schema: Schema) async throws -> any ServerStore { throw CancellationError() }
        func extend(by classes: [HelloClass]) async throws -> Bool {
            for await _ in AsyncStream<Void>.makeStream().stream {}
            return true
        }
        func forget(_ news: AuthorityNews) {}
    }

    @Test("A device whose classes take long to add is told that the server is unavailable, so it retries")
    func slowAdditions() async throws {
        let failure = await #expect(throws: SessionFailure.self) {
            try await SlowSource().extend(by: [], within: .milliseconds(1))
        }
        #expect(failure?.code == .unavailable && failure?.isRetryable == true)
        let waiting = Task { try await SlowSource().extend(by: [], within: .seconds(1 << 30)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self, "Once a device has gone, its classes are no longer waited for.") {
            try await waiting.value
        }
    }

    @Test(
        "Classes that make no sense are refused with the reason",
        arguments: [
            (HelloClass(name: "Note", columns: ["_id"]), "expected 'name: type'"),
            (HelloClass(name: "Note", columns: ["_id: objectid"]), "expected 'name: type'"),
            (HelloClass(name: "Note", columns: ["id: int", "text: string"]), "primary key must be called '_id'"),
            (HelloClass(name: "Note", columns: ["_id: int", "to: link<Missing>?"]), "Missing"),
            (HelloClass(name: "drop table", columns: ["_id: int"]), "drop table"),
            (HelloClass(name: "Note", columns: ["_id: int", "a\"b: int"]), "a\"b"),
            (HelloClass(name: "Note", columns: ["_id: int", "a.b: int"]), "no embedded object 'a'"),
        ])
    func badClasses(hello: HelloClass, reason: String) throws {
        let error = #expect(throws: ModelDocumentError.self) {
            try HelloModel.addition(of: [hello], to: try #require(Self.none))
        }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }
}
