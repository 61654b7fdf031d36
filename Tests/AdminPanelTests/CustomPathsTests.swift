import AdminPanel
import AdminService
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloRules

/// Which paths an app's own pages may have.
@Suite struct CustomPathsTests {
    private struct Pages: PanelSection {
        let paths: [String]
        var isOpen = false

        func add(to panel: PanelRoutes) {
            for path in paths {
                if isOpen {
                    panel.page(path, access: .open(because: "it's a test")) { _, _ in .redirect(to: "/panel") }
                } else {
                    panel.page(path, access: .own("panel")) { _, _ in .redirect(to: "/panel") }
                }
            }
        }
    }

    private static func application(_ fixture: ServiceFixture, _ pages: Pages) -> HTTPApplication {
        let rules = LiveRules(fixture.rules)
        let panel = AdminPanel(
            rules: rules, pool: fixture.adminServer.pool, authenticator: fixture.adminServer.authenticator,
            models: fixture.adminModels, additions: PanelAdditions(pages: [pages]))
        return buildAdminApplication(
            host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: rules, models: fixture.adminModels,
            authenticator: fixture.adminServer.authenticator, pages: { panel.add(to: $0, with: $1) })
    }

    @Test("a server doesn't start, and says why, if an app's page takes a path of the panel or has an invalid path")
    func refusals() async throws {
        let cases: [(paths: [String], reason: String)] = [
            (["/panel/trash/mine"], "Choose another name than 'trash'."),
            (["/panel/data/sessions/{id}"], "'/panel/data' and everything below it are the panel's own."),
            (["/panel/assets/mine.css"], "it isn't a path of a page."),
            (["/panel/login"], "Choose another name than 'login'."),
            // This server has no SQL page, because it has no database user for it.
            (["/panel/sql"], "Choose another name than 'sql'."),
            (["/panel"], "it isn't a path of a page."), (["/panel/"], "it isn't a path of a page."),
            (["/desk"], "it isn't a path of a page."), (["/panel/{name}"], "it isn't a path of a page."),
            (["/panel/desk/"], "it isn't a path of a page."), (["/panel/desk//x"], "it isn't a path of a page."),
            (["/panel/desk/*"], "it isn't a path of a page."), (["/panel/desk?x=1"], "it isn't a path of a page."),
            (["/panel/desk/{id}/{id}"], "it isn't a path of a page."),
            (["/panel/desk", "/panel/desk"], "there is one with this path already."),
            (["/panel/desk/{id}", "/panel/desk/{key}"], "there is one with this path already."),
        ]
        try await ServiceFixture.with { fixture in
            for (paths, reason) in cases {
                let app = Self.application(fixture, Pages(paths: paths))
                let error = await #expect(throws: ServerStartError.self, "\(paths)") { try await app.run() }
                let text = error?.description ?? ""
                let page = "The page '\(paths[paths.count - 1])' can't be added to the panel"
                #expect(text.contains(page), "\(paths): \(text)")
                #expect(text.contains(reason), "\(paths): \(text)")
                #expect(app.routes.count { $0.path == paths[0] && $0.method == "GET" } <= 1)
            }
        }
    }

    @Test("a server doesn't start if a page in the panel is open to everybody")
    func open() async throws {
        try await ServiceFixture.with { fixture in
            let app = Self.application(fixture, Pages(paths: ["/panel/desk"], isOpen: true))
            let error = await #expect(throws: ServerStartError.self) { try await app.run() }
            #expect(error?.description.contains("'/panel/desk' is open to everybody") == true)
        }
    }

    @Test("a path consists of names, parameters and more names, and two pages may share its beginning")
    func possible() async throws {
        try await ServiceFixture.with { fixture in
            let paths = ["/panel/desk", "/panel/desk/{id}", "/panel/desk/{id}/keys_2", "/panel/desk/new-key"]
            let app = Self.application(fixture, Pages(paths: paths))
            for path in paths { #expect(app.routes.contains { $0.path == path && !$0.isOpen }, "\(path)") }
        }
    }
}
