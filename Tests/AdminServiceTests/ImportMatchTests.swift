import Foundation
import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
@testable import TomboloJSONAPI
import TomboloMigration
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

@Suite("Rows of an import can match objects by unique properties other than the id")
struct ImportMatchTests {
    private typealias Site = BulkTests.Site
    private static let match = #""match": ["event", "rank"]"#

    private static func file(
        _ site: Site, _ rows: [String], as role: String = "owner", event: ObjectId? = nil
    ) async throws -> UploadedFile {
        let text =
            "name,kind,rank,currency,price,event\n" + rows.map { "\($0),\(event ?? site.fixture.event)\n" }.joined()
        return try await UploadedFile.upload(site, text, to: "tickets", as: role)
    }

    private static func problems(_ answer: Answer) -> [String] {
        answer.json["problems"]?.list.compactMap { $0["message"]?.text } ?? []
    }

    @Test(
        "a matching object is changed, other rows are created or refused depending on the mode, and an undo reverts it")
    func modes() async throws {
        try await BulkTests.run { site in
            let rows = ["Early,paid,a0,EUR,900", "New,free,x1,EUR,0"]
            let file = try await Self.file(site, rows)
            #expect(file.answer.json["matches"] == [["id"], ["event", "rank"]], "\(file.answer.text)")
            let create = try await file.preview("{\(Self.match)}")
            #expect(create.json["creates"] == 1 && create.json["refused"] == 1, "\(create.text)")
            #expect(Self.problems(create) == ["There is already a resource with this event and rank."])
            let update = try await file.preview(#"{"mode": "update", \#(Self.match)}"#)
            #expect(update.json["updates"] == 1 && update.json["refused"] == 1, "\(update.text)")
            #expect(update.json["match"] == ["event", "rank"])
            let over = try await file.finish([#""mode": "upsert""#, Self.match])
            #expect(over.json["done"] == 2 && over.json["state"] == "done", "\(over.text)")
            let early = try await site.fixture.pool.query(
                "SELECT price FROM ticket WHERE _id = $1", [.objectId(site.fixture.tickets[0])])
            #expect(try early[0, 0].int == 900, "the existing one")
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE rank = 'a0'") == 2, "one in each event")
            #expect(try await site.call(.post, "/jobs/\(file.id)/undo", as: "owner").status == 202)
            try await site.work()
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE name = 'New' AND trashed_at IS NULL") == 0)
            #expect(try await site.count("SELECT price FROM ticket WHERE name = 'Early'") == 1_050)
        }
    }

    @Test("duplicate or missing match values and options that contradict each other are refused")
    func refused() async throws {
        try await BulkTests.run { site in
            let file = try await Self.file(site, ["A,free,x1,EUR,0", "B,free,x1,EUR,0", "C,free,x2,EUR,0"])
            let preview = try await file.preview(#"{"mode": "upsert", \#(Self.match)}"#)
            #expect(preview.json["creates"] == 2 && preview.json["refused"] == 1, "\(preview.text)")
            #expect(
                Self.problems(preview) == ["Column 'event': Line 2 has the same event and rank."]
                    || Self.problems(preview) == ["Line 2 has the same event and rank."], "\(preview.text)")
            for (wishes, pointer) in [
                (#"{"match": "rank"}"#, "doesn't name properties that identify one"),
                (#"{"match": "nothing"}"#, "doesn't name properties that identify one"),
                (#"{"match": 5}"#, "doesn't name properties that identify one"),
                (#"{"match": ["event", "rank"], "mapping": {"name": "name", "rank": "rank"}}"#, "no column maps to"),
            ] {
                let answer = try await file.preview(wishes)
                #expect(answer.status == 400 && answer.text.contains(pointer), "\(wishes): \(answer.text)")
            }
            let text = "id,name,rank,event\n,A,x,\(site.fixture.event)\n,B,,\(site.fixture.event)\n,C,y,\n"
            let open = try await UploadedFile.upload(site, text, to: "tickets")
            let both = try await open.preview(
                #"{\#(Self.match), "mapping": {"id": "id", "name": "name", "rank": "rank", "event": "event"}}"#)
            #expect(both.status == 400 && both.text.contains("maps to 'id'"), "\(both.text)")
            // Without an explicit mapping, the id column is left out.
            let without = try await open.preview(#"{"mode": "update", \#(Self.match)}"#)
            #expect(without.status == 200 && without.json["refused"] == 3, "\(without.text)")
        }
    }

    @Test("a match in the trash is reported to those who may list the trash, and doesn't exist for others")
    func trash() async throws {
        try await BulkTests.run { site in
            try await site.fixture.pool.query(
                "SELECT tombolo.trash('Ticket', $1, 'ada', NULL)", [.text(site.fixture.tickets[0].stringValue)])
            let rows = ["Early,paid,a0,EUR,900"]
            let known = try await Self.file(site, rows, as: "superAdmin").preview(
                #"{"mode": "upsert", \#(Self.match)}"#)
            #expect(known.json["refused"] == 1, "\(known.text)")
            #expect(Self.problems(known).first?.contains("is in the trash") == true, "\(known.text)")
            let owner = try await Self.file(site, rows)
            let unknown = try await owner.preview(#"{"mode": "upsert", \#(Self.match)}"#)
            #expect(unknown.json["creates"] == 1 && !unknown.text.contains("trash"), "\(unknown.text)")
            let update = try await owner.preview(#"{"mode": "update", \#(Self.match)}"#)
            let other = try await Self.file(site, ["Early,paid,zz,EUR,900"]).preview(
                #"{"mode": "update", \#(Self.match)}"#)
            #expect(Self.problems(update) == Self.problems(other), "\(update.text)")
        }
    }

    @Test("rows can't match what the user can't see: neither hidden objects nor hidden properties")
    func secrets() async throws {
        try await BulkTests.run { site in
            // An owner of another event can't see a hidden ticket of this one.
            let there = try await Self.file(site, ["x,free,a2,EUR,0"], as: "stranger")
            let none = try await Self.file(site, ["x,free,none,EUR,0"], as: "stranger")
            for mode in ["update", "upsert"] {
                let wishes = #"{"mode": "\#(mode)", \#(Self.match)}"#
                let (one, other) = (try await there.preview(wishes), try await none.preview(wishes))
                #expect(Self.problems(one) == Self.problems(other) && one.json["refused"] == 1, "\(one.text)")
            }
            let schema = site.fixture.rules.schema
            for (fields, expected) in [
                ("{price: {read: true, write: true}}", 1), ("{rank: {read: false, write: false}}", 0),
            ] {
                let document =
                    "Ticket: [{name: a, applyWhen: {}, read: true, write: true, fields: \(fields), "
                    + "additional_fields: {read: true, write: true}}]"
                let rules = try Rules(schema: schema, book: RuleBook(parsing: document, file: "a.yaml"))
                let types = ResourceTypes(schema)
                let type = try #require(types["tickets"])
                let view = CallerView(subject: Subject(user: .generate()), rules: rules, types: types)
                #expect(ImportMatch.all(of: type, view).count == expected, "\(fields)")
            }
        }
    }

    @Test("an object whose match values change before its row is processed is left alone")
    func changedMeanwhile() async throws {
        try await BulkTests.run { site in
            let file = try await Self.file(site, ["Early,paid,a0,EUR,900"])
            #expect(try await file.start([#""mode": "update""#, Self.match]).status == 202)
            try await site.fixture.pool.query(
                "UPDATE ticket SET rank = 'moved' WHERE _id = $1", [.objectId(site.fixture.tickets[0])])
            try await site.work()
            let refused = try await file.rows("refused")
            #expect(refused.first?["reason"]?.text?.contains("a different event and rank") == true, "\(refused)")
            #expect(try await site.count("SELECT price FROM ticket WHERE rank = 'moved'") == 1_050)
        }
    }

    final class Coin: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var value: Decimal128
        @Persisted var name: String

        override static func uniqueProperties() -> [[String]] { [["value"]] }
    }

    @Test("a unique decimal matches however it's written")
    func decimals() async throws {
        let documents = AppDocuments(
            models: try ModelDocument(app: "mint", objectTypes: [Coin.self]),
            rules: "version: 1\ndefaultRoles:\n  - {name: everybody, applyWhen: {}, read: true, write: true}\n")
        try await AppSite.run(documents) { site in
            let made = try await site.call(
                .post, "/api/coins",
                #"{"data": {"type": "coins", "attributes": {"value": "1.00", "name": "a"}}}"#,
                type: "application/vnd.api+json")
            #expect(made.status == 201, "\(made.text)")
            let wishes = #""mode": "update", "match": ["value"]"#
            let files = [("value,name\n1.0,b\n", "text/csv"), (#"[{"value": 1, "name": "c"}]"#, "application/json")]
            for (text, type) in files {
                let changed = try await site.load(text, type, to: "coins", wishes)
                #expect(changed.job["done"] == 1, "\(changed.rows)")
                let same = try await site.load(text, type, to: "coins", wishes)
                #expect(same.job["leftAlone"] == 1, "\(same.rows)")
            }
            let coins = try await site.call(.get, "/api/coins").json["data"]?.list ?? []
            #expect(coins.map { $0["attributes"] } == [["value": "1.00", "name": "c"]])
        }
    }
}
