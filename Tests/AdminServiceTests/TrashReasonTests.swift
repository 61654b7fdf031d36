import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore
import TomboloRuleDocuments
import TomboloRules

/// Why something is in the trash: who gives the reason, who sees it, and where it's kept.
@Suite(.serialized) struct TrashReasonTests {
    private static let media = "application/vnd.api+json"
    private static let reason = "The speaker <b>fell ill</b>"

    private static func reasons(_ answer: Answer) -> [String: String?] {
        Dictionary(
            (answer.json["items"]?.list ?? []).map { ($0["_id"]?.text ?? "", $0["reason"]?.text) },
            uniquingKeysWith: { first, _ in first })
    }

    @Test("every way to trash over HTTP accepts a reason, and the trash shows it with everything that went along")
    func ways() async throws {
        try await BulkTests.run { site in
            let (fixture, call) = (site.fixture, site.call)
            let body = #"{"reason": "  \#(Self.reason)\r\n"}"#
            let moved = try await call(.post, "/admin/sessions/\(fixture.sessions[0])/trash", as: "admin", body: body)
            #expect(moved.status == 200, "\(moved.text)")
            #expect(!moved.text.contains("fell ill"))
            let own = try await call(
                .delete, "/sessions/\(fixture.sessions[1])", as: "owner", body: #"{"reason": "By its owner"}"#)
            #expect(own.status == 200, "\(own.text)")
            let resource = try await call(
                .delete, "/api/sessions/\(fixture.sessions[2])", as: "owner", body: #"{"meta": {"reason": "By API"}}"#,
                type: Self.media)
            #expect(resource.status == 204, "\(resource.text)")
            let operation = """
                {"atomic:operations": [{"op": "remove", "ref": {"type": "speakers", "id": "\(fixture.speakers[0])"},
                "meta": {"reason": "By operation"}}]}
                """
            let atomic = try await call(
                .post, "/api/operations", as: "owner", body: operation,
                type: #"application/vnd.api+json;ext="https://jsonapi.org/ext/atomic""#)
            #expect(atomic.status == 200, "\(atomic.text)")
            let bulk = try await call(
                .post, "/bulk/tickets", as: "owner",
                body: #"{"action": "trash", "ids": ["\#(fixture.tickets[0])"], "reason": "By job"}"#)
            #expect(bulk.status == 202 && bulk.json["arguments"]?["reason"] == "By job", "\(bulk.text)")
            try await site.work()
            let without = try await call(.delete, "/api/tickets/\(fixture.tickets[1])", as: "owner")
            #expect(without.status == 204)
            let found = Self.reasons(try await call(.get, "/admin/trash", as: "admin"))
            #expect(found[fixture.sessions[0].stringValue] == Self.reason)
            #expect(found[fixture.sessions[1].stringValue] == "By its owner")
            #expect(found[fixture.sessions[2].stringValue] == "By API")
            #expect(found[fixture.speakers[0].stringValue] == "By operation")
            #expect(found[fixture.tickets[0].stringValue] == "By job")
            #expect(found[fixture.tickets[1].stringValue] == .some(nil))

            let event = try await call(
                .post, "/admin/events/\(fixture.event)/trash", as: "admin", body: #"{"reason": "Cancelled"}"#)
            #expect(event.status == 200)
            let group = event.json["group"]?.text ?? ""
            let all = try await call(.get, "/admin/trash?event=\(fixture.event)", as: "admin")
            let along = all.json["items"]?.list.filter { $0["group"]?.text == group } ?? []
            #expect(along.count == event.json["count"]?.number.map(Int.init))
            #expect(along.allSatisfy { $0["reason"] == "Cancelled" })
            #expect(try await call(.post, "/admin/trash/\(group)/restore", as: "admin").status == 200)
            #expect(try await site.count("SELECT count(*) FROM event WHERE trash_reason IS NOT NULL") == 0)
        }
    }

    @Test(
        "an invalid reason is refused, and nothing is trashed",
        arguments: [
            (#"{"reason": 5}"#, 422), (#"{"reason": "\#(String(repeating: "x", count: 1_001))"}"#, 422),
            (#"{"reason": "\u0007"}"#, 422), (#"{"why": "x"}"#, 400), (#"["x"]"#, 400),
        ])
    func refused(body: String, status: Int) async throws {
        try await BulkTests.run { site in
            let session = site.fixture.sessions[0]
            let answer = try await site.call(.post, "/admin/sessions/\(session)/trash", as: "admin", body: body)
            #expect(answer.status == status, "\(answer.text)")
            let update = try await site.call(
                .post, "/bulk/sessions", as: "owner",
                body: #"{"action": "restore", "ids": ["\#(session)"], "reason": "x"}"#)
            #expect([400, 403].contains(update.status), "\(update.text)")
            let noTrash = try await site.call(
                .delete, "/api/role_assignments/\(session)", as: "superAdmin", body: #"{"meta": {"reason": "x"}}"#,
                type: Self.media)
            #expect(noTrash.status == 422, "\(noTrash.text)")
            #expect(try await site.count("SELECT count(*) FROM session WHERE trashed_at IS NOT NULL") == 0)
        }
    }

    @Test("the audit log keeps the reason, shows it only to those who may list the trash, and can be replayed")
    func audit() async throws {
        try await ServiceFixture.with { fixture in
            let store = try await PostgresServerStore.open(schema: fixture.rules.schema, pool: fixture.pool)
            func copy() async throws {
                try await store.makeLoneTick()
                try await AuditFollower(pool: fixture.adminServer.pool).catchUp()
            }
            try await copy()
            let trash = Trash(schema: fixture.rules.schema, pool: fixture.adminServer.pool)
            let session = fixture.sessions[0]
            _ = try await trash.trash("Session", .objectId(session), by: nil, because: TrashReason("First"))
            try await fixture.pool.query("SELECT tombolo.restore('Session', $1)", [.text(session.stringValue)])
            _ = try await trash.trash("Session", .objectId(session), by: nil, because: TrashReason("Second"))
            try await fixture.pool.query("SELECT tombolo.purge('Session', $1)", [.text(session.stringValue)])
            try await copy()
            let report = try await fixture.pool.withConnection {
                try await AuditVerification.run(fixture.rules.schema, on: $0)
            }
            #expect(report.differences.isEmpty, "\(report)")
            let narrow = """
                Session:
                - {name: auditor, applyWhen: {}, read: true, operations: {audit: true}}
                """
            let others = try Rules(
                schema: fixture.rules.schema, book: try RuleBook(parsing: narrow, file: "test.yaml"))
            let views: [(Rules, String, [String])] = [
                (fixture.rules, "superAdmin", ["Second", "Second", "First", "First"]), (others, "admin", []),
            ]
            for (rules, role, expected) in views {
                let app = buildAdminApplication(
                    host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: LiveRules(rules),
                    models: fixture.adminModels, authenticator: fixture.adminServer.authenticator)
                try await app.test(.router) { client in
                    let call = ServiceTestSupport.Caller(client, fixture)
                    let answer = try await call(.get, "/admin/audit?class=Session", as: role)
                    #expect(answer.status == 200, "\(answer.text)")
                    let items = answer.json["items"]?.list.filter { $0["object"]?.text == session.stringValue } ?? []
                    #expect(items.count >= 4, "\(answer.text)")
                    #expect(items.compactMap { $0["trashReason"]?.text } == expected, "\(answer.text)")
                    if expected.isEmpty { #expect(!answer.text.contains("First")) }
                }
            }
            await store.resign()
        }
    }
}
