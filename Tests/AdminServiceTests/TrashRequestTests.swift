import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloServerModel

@testable import AdminService

/// Requests about the trash that could be mistaken for more than they ask.
@Suite struct TrashRequestTests {
    @Test("a request to delete forever that isn't fully understood deletes nothing")
    func misspelt() async throws {
        try await ServiceFixture.with { fixture in
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: fixture.adminModels.liveRules(),
                authenticator: fixture.adminServer.authenticator)
            try await app.test(.router) { client in
                let call = Caller(client, fixture)
                let trashed = try await call(
                    .post, "/admin/sessions/\(fixture.sessions[2].stringValue)/trash", as: "admin")
                #expect(trashed.status == 200, "\(trashed.text)")
                for query in [
                    "Class=Track", "clas=Track", "%63lass=Track", "class=Track&class=Session", "trashed_at=1",
                ] {
                    let answer = try await call(.post, "/admin/trash/empty?\(query)", as: "superAdmin")
                    #expect(answer.status == 400, "\(query): \(answer.text)")
                }
                for (query, body, type) in [
                    ("?dryRun=true", nil, ""), ("", #"{"dry_run": true}"#, "application/json"),
                    ("", #"{"dryRun": "true"}"#, "application/json"), ("", #"{"dryRun": true}"#, "text/plain"),
                ] as [(String, String?, String)] {
                    let answer = try await call(
                        .post, "/admin/trash/purge\(query)", as: "superAdmin", body: body, type: type)
                    #expect([400, 415].contains(answer.status), "\(query) \(body ?? ""): \(answer.text)")
                }
                let list = try await call(.get, "/admin/trash?class=Session", as: "superAdmin")
                #expect(list.json["items"]?.list.count == 1, "\(list.text)")
            }
        }
    }

    @Test("a role within an event is deleted with the event, instead of applying everywhere")
    func rolesOfDeletedEvents() async throws {
        try await ServiceFixture.with { fixture in
            let everywhere = "SELECT count(*) FROM role_assignment WHERE event IS NULL"
            let before = try await fixture.pool.query(everywhere)[0, 0].int
            let within = "SELECT count(*) FROM role_assignment WHERE event = $1"
            #expect(try await fixture.pool.query(within, [.objectId(fixture.event)])[0, 0].int > 0)
            try await fixture.pool.query("DELETE FROM event WHERE _id = $1", [.objectId(fixture.event)])
            #expect(try await fixture.pool.query(everywhere)[0, 0].int == before)
        }
    }
}
