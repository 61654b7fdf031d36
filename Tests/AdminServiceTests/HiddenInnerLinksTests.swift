import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloModel

@Suite("Links from embedded objects into the trash are hidden but kept")
struct HiddenInnerLinksTests {
    final class Pier: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var lamp: Lamp?
        @Persisted var lamps: List<Lamp>
    }

    final class Lamp: EmbeddedObject {
        @Persisted var name: String
        @Persisted var keeper: Keeper?
        @Persisted var helpers: List<Keeper>
    }

    final class Keeper: Object {
        @Persisted(primaryKey: true) var _id: String

        override static func isTrashable() -> Bool { true }
    }

    private static let type = "application/vnd.api+json"

    private static func text(_ json: JSON) -> String {
        var bytes = JSONBytes()
        json.append(to: &bytes)
        return String(decoding: bytes.bytes, as: UTF8.self)
    }

    /// A pier whose lamps are kept by `a`, who is in the trash, and `b`.
    private static func run(_ body: @escaping @Sendable (AppSite) async throws -> Void) async throws {
        let rules = """
            version: 1
            defaultRoles:
              - {name: everybody, applyWhen: {}, read: true, write: true, operations: {trash: true}}

            """
        let documents = AppDocuments(
            models: try ModelDocument(app: "pier", objectTypes: [Pier.self, Keeper.self]), rules: rules)
        try await AppSite.run(documents) { site in
            let lamp: JSON = ["name": "red", "keeper": "a", "helpers": ["a", "b"]]
            for (type, data) in [
                ("keepers", ["type": "keepers", "id": "a"]), ("keepers", ["type": "keepers", "id": "b"]),
                ("piers", ["type": "piers", "id": "p", "attributes": ["lamp": lamp, "lamps": [lamp]]]),
            ] as [(String, JSON)] {
                let made = try await site.call(.post, "/api/\(type)", text(["data": data]), type: Self.type)
                #expect(made.status == 201, "\(made.text)")
            }
            #expect(try await site.call(.delete, "/api/keepers/a").status == 204)
            try await body(site)
        }
    }

    private static func attributes(_ site: AppSite) async throws -> JSON? {
        try await site.call(.get, "/api/piers/p").json["data"]?["attributes"]
    }

    private static func patch(_ site: AppSite, _ attributes: JSON) async throws {
        let data: JSON = ["type": "piers", "id": "p", "attributes": attributes]
        let answer = try await site.call(.patch, "/api/piers/p", text(["data": data]), type: type)
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// How many times each column with links contains `a`.
    private static func links(_ site: AppSite) async throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for item in site.schema.classes {
            for column in item.columns where column.linkTarget == "Keeper" {
                let found = try await site.pool.query(
                    "SELECT count(*) FROM \"\(item.table)\" WHERE \"\(column.sqlName)\" = 'a'")
                counts["\(item.name) \(column.name)"] = try found[0, 0].int64
            }
        }
        return counts
    }

    @Test("writing back what was read keeps the hidden links, and so does importing an export")
    func writtenBack() async throws {
        try await Self.run { site in
            let before = try await Self.links(site)
            #expect(before.count == 4 && before.values.allSatisfy { $0 == 1 }, "\(before)")
            let attributes = try #require(try await Self.attributes(site))
            let lamp = try #require(attributes["lamps"]?.list.first)
            #expect(attributes["lamp"] == ["name": "red", "keeper": .null, "helpers": ["b"]])
            #expect(lamp["keeper"] == .null && lamp["helpers"] == ["b"])
            let export = try await site.call(.get, "/export/piers?format=json")
            #expect(export.json.list.first?["lamp"] == attributes["lamp"], "\(export.text)")
            #expect(export.json.list.first?["lamps"] == attributes["lamps"], "\(export.text)")
            let table = try await site.call(.get, "/export/piers")
            #expect(!table.text.contains("\"\"a\"\"") && table.text.contains(#",,"[""b""]","#), "\(table.text)")

            try await Self.patch(site, attributes)
            #expect(try await Self.links(site) == before)
            #expect(try await Self.attributes(site) == attributes)
        }
    }

    @Test("filters find them as null, as they are shown, and lists can't be sorted by them")
    func filtered() async throws {
        try await Self.run { site in
            let expected = [
                "=a": 0, "[in]=a,b": 0, "[ne]=a": 1, "[ne]=b": 1, "[isNull]=true": 1, "[isNull]=false": 0,
                "[startsWith]=a": 0, "[contains]=a": 0, "[le]=b": 0,
            ]
            for (filter, count) in expected {
                let query = "filter[lamp.keeper]\(filter)"
                let list = try await site.call(.get, "/api/piers?page[total]=true&\(query)")
                #expect(list.json["data"]?.list.count == count, "\(query): \(list.text)")
                #expect(list.json["meta"]?["page"]?["total"] == .int(Int64(count)), "\(query)")
                let file = try await site.call(.get, "/export/piers?format=json&\(query)")
                #expect(file.json.list.count == count, "\(query): \(file.text)")
            }
            let sorted = try await site.call(.get, "/api/piers?sort=lamp.keeper")
            #expect(sorted.status == 400, "\(sorted.text)")
        }
    }

    @Test("other links replace them")
    func replaced() async throws {
        try await Self.run { site in
            let id = try #require(try await Self.attributes(site)?["lamps"]?.list.first?["id"])
            let lamp: JSON = ["name": "red", "keeper": "b", "helpers": ["b"]]
            try await Self.patch(
                site, ["lamp": lamp, "lamps": [["id": id, "name": "red", "keeper": "b", "helpers": ["b"]]]])
            let links = try await Self.links(site)
            #expect(links["Pier lamp.keeper"] == 0 && links["Pier.lamps keeper"] == 0, "\(links)")
            try await Self.patch(site, ["lamp": .null, "lamps": []])
            #expect(try await Self.attributes(site) == ["lamp": .null, "lamps": []])
        }
    }
}
