import AdminPanel
import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import ServiceTestSupport
import TestSupport
import TomboloAuthentication
import TomboloHTTP
import TomboloRules
import TomboloServerModel

/// A panel whose server writes mail to a folder.
enum MailingPanel {
    /// - Parameter body: receives a browser that isn't logged in.
    static func with(
        _ body: @escaping @Sendable (ServiceFixture, PanelBrowser, MailFolder) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let folder = MailFolder()
            defer { folder.remove() }
            let room = MailRoom(.folder(folder.url), logger: Logger(label: "mail"))
            let models = fixture.adminModels
            let authenticator = try await fixture.adminAuthenticator(mail: room)
            let panel = AdminPanel(
                rules: models.liveRules(), pool: fixture.adminServer.pool, authenticator: authenticator,
                models: models, address: try AdminAddress("https://admin.example.org/"))
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: models.liveRules(), models: models,
                authenticator: authenticator, pages: { panel.add(to: $0, with: $1) })
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await room.run() }
                group.addTask { try await app.test(.router) { try await body(fixture, PanelBrowser($0), folder) } }
                try await group.next()
                group.cancelAll()
            }
        }
    }

    /// The path of the mail's link for setting a password, or nil if it has none.
    static func link(in mail: String) -> String? {
        mail.firstMatch(of: /https:\/\/admin\.example\.org(\/panel\/forgotten\/reset\?\S+)/).map { String($0.1) }
    }

    /// Opens the link from a mail in a separate browser, and sets the password.
    static func setPassword(_ password: String, by link: String, _ browser: PanelBrowser) async throws -> Answer {
        let browser = PanelBrowser(browser.client)
        var fields = Dictionary(uniqueKeysWithValues: PanelBrowser.hidden(try await browser.get(link).text))
        fields["password"] = password
        fields["again"] = password
        return try await browser.send(
            "/panel/forgotten/reset", fields, token: nil, headers: [.origin: "http://localhost"])
    }
}
