import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloModel
import TomboloServerModel

@testable import AdminPanel

/// Which forms ask for the password again, in full: a new form needs a decision here.
@Suite struct DemandedPasswordTests {
    /// Always ask: these can't be undone, or change who may do what.
    private static let always: Set<String> = [
        "/panel/accounts/{id}/disable", "/panel/accounts/{id}/enable", "/panel/accounts/{id}/logins/end",
        "/panel/accounts/{id}/password-link", "/panel/accounts/new",
        "/panel/accounts/{id}/second-factor/remove", "/panel/accounts/{id}/unverify", "/panel/accounts/{id}/verify",
        "/panel/backups/{name}/delete", "/panel/backups/{name}/download", "/panel/backups/{name}/restore",
        "/panel/backups/kept/{database}/delete", "/panel/backups/kept/{database}/restore",
        "/panel/models/{app}/apply",
        "/panel/password",
        "/panel/people/invite", "/panel/people/transfer",
        "/panel/permissions/box", "/panel/permissions/role/remove", "/panel/permissions/role/rename",
        "/panel/permissions/roles/new",
        "/panel/second-factor/begin", "/panel/second-factor/confirm", "/panel/second-factor/recovery-codes",
        "/panel/second-factor/remove",
        "/panel/settings/change/{name}",
        "/panel/sql",
        "/panel/trash/empty", "/panel/trash/group/{id}/delete", "/panel/trash/purge",
    ]
    /// Ask for objects that give roles; two of them also ask when deleting objects that have no trash.
    private static let sometimes: Set<String> = [
        "/panel/audit/{collection}/{id}/put-back", "/panel/bulk/{collection}", "/panel/data/{collection}/{id}",
        "/panel/data/{collection}/{id}/delete", "/panel/import/{collection}/{id}/start", "/panel/jobs/{id}/undo",
        "/panel/new/{collection}", "/panel/restore", "/panel/rows/{collection}", "/panel/trash/group/{id}/restore",
    ]
    /// Never ask: these can be undone, only look, or contain a password field.
    private static let never: Set<String> = [
        "/panel/accounts/{id}/logins/{login}/end", "/panel/backups",
        "/panel/import/{collection}", "/panel/import/{collection}/{id}",
        "/panel/invitation/accept", "/panel/jobs/{id}/cancel", "/panel/login/code", "/panel/logout", "/panel/markdown",
        "/panel/models/{app}/edit", "/panel/models/{app}/plan",
        "/panel/own-password",
        "/panel/people/invitations/{id}/resend", "/panel/people/invitations/{id}/revoke", "/panel/schedule/{job}/run",
        "/panel/settings/test-mail", "/panel/theme",
        "/panel/view-as", "/panel/view-as/end", "/panel/views/{collection}", "/panel/views/{collection}/delete",
    ]
    /// For people who aren't logged in.
    private static let open: Set<String> = [
        "/panel/forgotten", "/panel/forgotten/reset", "/panel/invitation", "/panel/login",
    ]

    /// The addresses of all forms in a panel with all its parts.
    private static func withPanel(
        _ body:
            @escaping @Sendable (ServiceFixture, HTTPApplication, AdminPanel, any TestClientProtocol) async throws ->
            Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let configuration = fixture.pool.configuration
            let models = fixture.adminModels
            let panel = AdminPanel(
                rules: models.liveRules(), pool: fixture.adminServer.pool,
                authenticator: fixture.adminServer.authenticator, models: models,
                settings: ServerSettings(environment: [:]), sql: SQLConsole(configuration),
                modelChanges: ModelChanges(DatabaseMigrations(configuration)))
            try await PanelBrowser.with(fixture, panel: panel) { try await body(fixture, $0, panel, $1) }
        }
    }

    @Test("every form of the panel asks for the password as listed here")
    func list() async throws {
        try await Self.withPanel { _, app, panel, _ in
            var found: [PanelRoutes.Demand: Set<String>] = [:]
            for action in panel.core.actions { found[action.demand, default: []].insert(action.path) }
            #expect(found[.recentPassword] == Self.always)
            #expect(found[.recentPasswordSometimes] == Self.sometimes)
            #expect(found[.nothing] == Self.never)
            // No form is sent to an address that isn't listed.
            let posts = Set(app.routes.filter { $0.method == "POST" && $0.path.hasPrefix("/panel") }.map(\.path))
            #expect(posts == Self.always.union(Self.sometimes).union(Self.never).union(Self.open))
        }
    }

    @Test("an hour after log-in, forms that always ask for the password do so whatever is sent")
    func asking() async throws {
        try await Self.withPanel { fixture, _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            try await PanelBrowser.ageProofs(fixture.pool)
            let id = try #require(fixture.users["attendee"]).stringValue
            for path in Self.always.sorted() {
                let address = path.replacing("{id}", with: id).replacing("{name}", with: "x")
                    .replacing("{app}", with: "conference")
                let answer = try await browser.post(address)
                #expect(answer.status == 403 && answer.text.contains(#"name="_password""#), "\(path): \(answer.text)")
            }
        }
    }
}
