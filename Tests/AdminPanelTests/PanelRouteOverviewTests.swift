import HTTPTypes
import HummingbirdTesting
import ServiceTestSupport
import Testing
import TomboloHTTP

/// The page of routes by role says of the panel's routes what a browser finds.
@Suite(.timeLimit(.minutes(15))) struct PanelRouteOverviewTests {
    /// The roles under the names of the page, and who has them.
    private static let users: [(role: String, user: String?)] = [
        ("anonymous", nil), ("any user", "attendee"), ("admin", "admin"), ("superAdmin", "superAdmin"),
        ("owner", "owner"), ("organizer", "organizer"), ("coorganizer", "coorganizer"), ("registrar", "registrar"),
        ("trackOrganizer", "trackOrganizer"), ("moderator", "moderator"),
    ]

    @Test("every route of the panel as every role: what the page says is what a browser gets")
    func crawl() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { app, client in
                try await TrashVisitor.addUsers(fixture)
                let call = ServiceTestSupport.Caller(client, fixture)
                let overview = try await call(.get, "/admin/routes", as: "admin").json
                #expect(Set(overview["roles"]?.list.compactMap(\.text) ?? []) == Set(Self.users.map(\.role)))
                let lines = overview["routes"]?.list ?? []
                let routes = app.routes.filter(PanelRouteCall.isAsked)
                #expect(routes.count >= 80)
                let collections = PanelRouteCall.collections(fixture)
                var mismatches: [String] = []
                for (role, user) in Self.users {
                    let browser =
                        if let user { try await PanelBrowser.loggedIn(client, as: user) } else { PanelBrowser(client) }
                    let ask = try await PanelRouteCall(browser, isLoggedIn: user != nil)
                    for route in routes {
                        let line = try #require(
                            lines.first { $0["method"]?.text == route.method && $0["path"]?.text == route.path },
                            "\(route)")
                        let forecast = try #require(line["roles"]?[role]?.text)
                        let answers = try await Self.answers(of: route, collections, ask)
                        if answers.allSatisfy(\.isRefusal) != (forecast == "refused") {
                            mismatches.append(
                                "\(role): \(route.method) \(route.path) is '\(forecast)', and got \(answers.map(\.status))"
                            )
                        }
                    }
                }
                #expect(mismatches.isEmpty, "\(mismatches.joined(separator: "\n"))")
            }
        }
    }

    /// What comes of a route with an id that nothing has; of one for any class until one isn't refused, for the page says what
    /// comes of the best of them.
    private static func answers(
        of route: RouteDescription, _ collections: [String], _ call: PanelRouteCall
    ) async throws -> [PanelRouteCall.Found] {
        var answers: [PanelRouteCall.Found] = []
        for collection in route.path.contains("{collection}") ? collections : [""] {
            answers.append(try await call(route, collection))
            if answers.last?.isRefusal == false { break }
        }
        return answers
    }
}
