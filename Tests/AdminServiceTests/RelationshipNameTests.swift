import HTTPTypes
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloModel

@Suite("A class may be named like a part of an address")
struct RelationshipNameTests {
    final class Relationship: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var opposite: Relationship?
    }

    @Test("links lead where they say")
    func links() async throws {
        let documents = AppDocuments(
            models: try ModelDocument(app: "people", objectTypes: [Relationship.self]),
            rules: "version: 1\ndefaultRoles:\n  - {name: everybody, applyWhen: {}, read: true, write: true}\n")
        try await AppSite.run(documents) { site in
            let made = try await site.call(
                .post, "/api/relationships", #"{"data": {"type": "relationships", "id": "a"}}"#,
                type: "application/vnd.api+json")
            #expect(made.status == 201, "\(made.text)")
            let linkage = try await site.call(.get, "/api/relationships/a/relationships/opposite")
            #expect(linkage.status == 200 && linkage.json["data"] == .null, "\(linkage.text)")
            let links = made.json["data"]?["relationships"]?["opposite"]?["links"]
            #expect(linkage.json["links"] == links && links?["related"] == "/api/relationships/a/opposite")
            #expect(try await site.call(.get, "/api/relationships/a/opposite").status == 200)
        }
    }
}
