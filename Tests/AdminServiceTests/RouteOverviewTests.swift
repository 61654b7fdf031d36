import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// The page of routes by role agrees with what a crawl finds.
@Suite struct RouteOverviewTests {
    /// The roles for which the fixture has a user, named as on the page.
    private static let users: [(role: String, user: String?)] = [
        ("anonymous", nil), ("any user", "attendee"), ("admin", "admin"), ("superAdmin", "superAdmin"),
        ("owner", "owner"), ("organizer", "organizer"), ("coorganizer", "coorganizer"), ("registrar", "registrar"),
        ("trackOrganizer", "trackOrganizer"), ("moderator", "moderator"),
    ]

    private static func with(
        _ body: @escaping @Sendable (ServiceFixture, HTTPApplication, ServiceTestSupport.Caller) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let app = fixture.adminApplication()
            try await app.test(.router) { try await body(fixture, app, ServiceTestSupport.Caller($0, fixture)) }
        }
    }

    @Test("every route as every role: calls do what the page says")
    func crawl() async throws {
        try await Self.with { fixture, app, call in
            for role in ["trackOrganizer", "moderator"] {
                let user = try await fixture.authenticator.register(
                    email: ServiceFixture.email(role), password: ServiceFixture.password, displayName: role)
                try await fixture.rows().insert(
                    "RoleAssignment",
                    ["user": .objectId(user), "role": .string(role), "event": .objectId(fixture.event)])
            }
            let overview = try await call(.get, "/admin/routes", as: "admin").json
            let lines = overview["routes"]?.list ?? []
            #expect(lines.count == app.routes.filter { $0.method != "HEAD" }.count && lines.count >= 10)
            #expect(Set(overview["roles"]?.list.compactMap(\.text) ?? []) == Set(Self.users.map(\.role)))
            for line in lines {
                let (method, path) = (try #require(line["method"]?.text), try #require(line["path"]?.text))
                let route = try #require(app.routes.first { $0.method == method && $0.path == path })
                // These take a refresh token or a password instead of an access token.
                guard !["/session", "/login"].contains(path) else { continue }
                for (role, user) in Self.users {
                    let forecast = try #require(line["roles"]?[role]?.text)
                    // The address names one of many classes, and the page shows the best outcome among them.
                    if path.contains("{collection}") {
                        let answers = try await Self.answers(of: route, as: user, fixture, call)
                        #expect(
                            answers.allSatisfy { [401, 403].contains($0) } == (forecast == "refused"),
                            "\(role): \(method) \(path) \(answers)")
                        continue
                    }
                    var answers: [Int] = []
                    for session in [fixture.sessions[2], fixture.draftSession] {
                        let answer = try await call(
                            try #require(HTTPRequest.Method(method)),
                            ServiceTestSupport.Caller.address(route, id: session.stringValue),
                            as: user)
                        answers.append(answer.status)
                        try await fixture.pool.execute(
                            "UPDATE session SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL")
                    }
                    let isRefused = answers.map { [401, 403].contains($0) }
                    let found =
                        !isRefused.contains(true) ? "allowed" : isRefused.contains(false) ? "own only" : "refused"
                    // Everybody has their own jobs, and nobody else's exist for them.
                    let expected = path.hasPrefix("/jobs") && forecast == "own only" ? "allowed" : forecast
                    #expect(found == expected, "\(role): \(method) \(path) \(answers)")
                }
            }
        }
    }

    /// The status codes of a route's answers for a session, one per class.
    private static func answers(
        of route: RouteDescription, as user: String?, _ fixture: ServiceFixture, _ call: ServiceTestSupport.Caller
    ) async throws -> [Int] {
        var answers: [Int] = []
        for item in fixture.adminModels.liveRules().current.schema.classes
        where item.owner == nil && item.primaryKey != nil && (route.path.hasPrefix("/api/") || item.isTrashable) {
            let address = ServiceTestSupport.Caller.address(
                route, id: fixture.sessions[2].stringValue, collection: item.collectionName)
            answers.append(
                try await call(try #require(HTTPRequest.Method(route.method)), address, as: user).status)
            try await fixture.pool.execute(
                "UPDATE session SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL")
        }
        return answers
    }

    @Test("a browser gets a table with row and column headers, which shows a changed box at once")
    func page() async throws {
        try await Self.with { fixture, _, call in
            let html: HTTPFields = [.accept: "text/html,application/xhtml+xml"]
            let page = try await call(.get, "/admin/routes", as: "admin", headers: html)
            #expect(page.status == 200 && page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.text.contains(#"<html lang="en">"#) && page.text.contains("<caption"))
            #expect(page.text.contains(#"<th scope="col">coorganizer</th>"#))
            #expect(page.text.contains(#"<th scope="row">DELETE /{collection}/{id}<br>"#))
            #expect(try await call(.get, "/admin/routes", as: "owner", headers: html).status == 403)

            func forecast() async throws -> String? {
                let lines = try await call(.get, "/admin/routes", as: "admin").json["routes"]?.list ?? []
                return lines.first { $0["path"] == "/{collection}/{id}" }?["roles"]?["moderator"]?.text
            }
            #expect(try await forecast() == "refused")
            let body = #"{"role": "moderator", "service": "sessions", "operation": "delete", "allowed": true}"#
            let changed = try await call(
                .patch, "/admin/permissions", as: "superAdmin", body: body, headers: [.ifMatch: "*"])
            #expect(changed.status == 200, "\(changed.text)")
            #expect(try await forecast() == "own only")
        }
    }
}
