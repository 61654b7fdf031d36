import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloModel

@testable import AdminService
@testable import TomboloJSONAPI

@Suite("Lists in embedded objects that are too long to show aren't emptied by writers who can't see them")
struct LongInnerListTests {
    final class Kite: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var size: KiteSize?
    }

    final class KiteSize: EmbeddedObject {
        @Persisted var width: Int
        @Persisted var tails: List<Tail>
    }

    final class Tail: Object {
        @Persisted(primaryKey: true) var _id: String
    }

    private struct Site {
        let site: AppSite

        func tails() async throws -> Int64 {
            let index = try #require(site.schema.index(of: "Kite.size.tails"))
            return try await site.pool.query("SELECT count(*) FROM \(site.schema[index].table)")[0, 0].int64
        }

        func lengthen() async throws {
            let item = site.schema[try #require(site.schema.index(of: "Kite.size.tails"))]
            let columns = [ElementColumn.id, ElementColumn.owner, ElementColumn.rank, ElementColumn.content]
            try await site.pool.query(
                """
                INSERT INTO \(item.table) (\(columns.map { "\"\(item.columns[$0].sqlName)\"" }.joined(separator: ", ")))
                SELECT substr(sha256(gen_random_uuid()::text::bytea), 1, 12), 'a', 'b' || lpad(n::text, 6, '0'), 't'
                FROM generate_series(1, 1001) n
                """)
        }

        func size() async throws -> JSON? {
            try await site.call(.get, "/api/kites/a").json["data"]?["attributes"]?["size"]
        }

        func patch(_ size: String) async throws -> Answer {
            try await site.call(
                .patch, "/api/kites/a", #"{"data": {"type": "kites", "id": "a", "attributes": {"size": \#(size)}}}"#,
                type: "application/vnd.api+json")
        }

        /// Changes the size in a job.
        func bulk(_ size: String) async throws -> JSON {
            let asked = try await site.call(
                .post, "/bulk/kites",
                #"{"action": "update", "ids": ["a"], "data": {"attributes": {"size": \#(size)}}}"#)
            #expect(asked.status == 202, "\(asked.text)")
            while try await site.service.runner.step() {}
            return try await site.call(.get, "/jobs/\(asked.json["id"]?.number ?? 0)").json
        }
    }

    private static func run(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        let documents = AppDocuments(
            models: try ModelDocument(app: "meadow", objectTypes: [Kite.self, Tail.self]),
            rules: "version: 1\ndefaultRoles:\n  - {name: everybody, applyWhen: {}, read: true, write: true}\n")
        try await AppSite.run(documents) { site in
            for (type, data) in [
                ("tails", #""id": "t""#),
                ("kites", #""id": "a", "attributes": {"size": {"width": 1, "tails": ["t"]}}"#),
            ] {
                let made = try await site.call(
                    .post, "/api/\(type)", #"{"data": {"type": "\#(type)", \#(data)}}"#,
                    type: "application/vnd.api+json")
                #expect(made.status == 201, "\(made.text)")
            }
            try await body(Site(site: site))
        }
    }

    @Test("an object can be written back as it was read, and only a list that is named is replaced")
    func writtenBack() async throws {
        try await Self.run { site in
            #expect(try await site.patch(#"{"width": 2}"#).status == 200)
            #expect(try await site.size() == ["width": 2, "tails": []])
            try await site.lengthen()
            #expect(try await site.size() == ["width": 2])
            #expect(try await site.patch(#"{"width": 3}"#).status == 200)
            #expect(try await site.size() == ["width": 3])
            #expect(try await site.tails() == 1_001)
            #expect(try await site.patch(#"{"width": 3, "tails": ["t"]}"#).status == 200)
            #expect(try await site.size() == ["width": 3, "tails": ["t"]])
            try await site.lengthen()
            #expect(try await site.patch("null").status == 200)
            #expect(try await site.tails() == 0)
        }
    }

    @Test(
        "a job changes the object without the list and can be undone; it's refused changes that an undo couldn't restore"
    )
    func jobs() async throws {
        try await Self.run { site in
            try await site.lengthen()
            for size in ["null", #"{"width": 2, "tails": ["t"]}"#] {
                let job = try await site.bulk(size)
                #expect(job["refused"] == 1 && job["done"] == 0, "\(job)")
            }
            let job = try await site.bulk(#"{"width": 2}"#)
            #expect(job["done"] == 1, "\(job)")
            #expect(try await site.size() == ["width": 2])
            let undo = try await site.site.call(.post, "/jobs/\(job["id"]?.number ?? 0)/undo")
            #expect(undo.status == 202, "\(undo.text)")
            while try await site.site.service.runner.step() {}
            #expect(try await site.size() == ["width": 1])
            #expect(try await site.tails() == 1_002)
        }
    }
}
