import HTTPTypes
import HummingbirdTesting
import ServiceTestSupport
import Testing
import TomboloHTTP

/// The page of routes by role agrees with what a browser finds on the panel's routes.
@Suite(.timeLimit(.minutes(15))) struct PanelRouteOverviewTests {
    /// The roles as the page names them, and a user who has each.
    private static let users: [(role: String, user: String?)] = [
        ("anonymous", nil), ("any user", "attendee"), ("admin", "admin"), ("superAdmin", "superAdmin"),
        ("owner", "owner"), ("organizer", "organizer"), ("coorganizer", "coorganizer"), ("registrar", "registrar"),
        ("trackOrganizer", "trackOrganizer"), ("moderator", "moderator"),
    ]

    @Test("every panel route as every role: browsers get what the page says")
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

    /// A route's answers for an id that doesn't exist. For a route with a class in its path, tries classes until one isn't refused,
    /// because the page shows the best outcome among them.
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
