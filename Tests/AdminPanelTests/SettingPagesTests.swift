import AdminService
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloServerModel

@testable import AdminPanel

/// Settings that super administrators change in the panel, from the form to the code that uses them.
@Suite(.timeLimit(.minutes(15))) struct SettingPagesTests {
    /// An admin server with its own settings.
    private struct Server: Sendable {
        let fixture: ServiceFixture
        let live: LiveSettings
        let panel: AdminPanel
        let client: any TestClientProtocol

        static let logger = Logger(label: "settings")

        func browser(_ role: String = "superAdmin") async throws -> PanelBrowser {
            try await PanelBrowser.loggedIn(client, as: role)
        }

        func refresh() async throws { try await live.refresh(fixture.adminServer.pool, logger: Self.logger) }

        func count() async throws -> Int {
            try await fixture.pool.query("SELECT count(*) FROM tombolo.setting")[0, 0].int
        }

        /// Starts another server on the same database.
        static func with(
            _ fixture: ServiceFixture, _ environment: [String: String] = [:],
            _ body: @escaping @Sendable (Server) async throws -> Void
        ) async throws {
            let live = try LiveSettings(environment: environment)
            let (pool, models) = (fixture.adminServer.pool, fixture.adminModels)
            try await live.refresh(pool, logger: logger)
            let authenticator = await Authenticator(
                pool: pool, tokens: try TokenConfiguration(secret: String(repeating: "s", count: 32)),
                hasher: PasswordHasher(parameters: .weakForTests),
                mail: MailRoom(carrier: { live.current.mail }, logger: logger),
                secondFactor: { live.current.secondFactor }, grants: { models.grants })
            let panel = AdminPanel(
                rules: models.liveRules(), pool: pool, authenticator: authenticator, models: models,
                settings: ServerSettings(environment: environment), live: live)
            try await PanelBrowser.with(fixture, panel: panel) { _, client in
                try await body(Server(fixture: fixture, live: live, panel: panel, client: client))
            }
        }
    }

    private static func with(
        _ environment: [String: String] = [:], _ body: @escaping @Sendable (Server) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { try await Server.with($0, environment, body) }
    }

    private static func path(_ name: String) -> String { "/panel/settings/change/\(name)" }

    @Test("a change takes effect at once, names its author, is logged without secrets, and can be undone")
    func change() async throws {
        try await Self.with { server in
            let browser = try await server.browser()
            let path = Self.path("TOMBOLO_MAIL")
            let form = try await browser.get(path)
            #expect(form.status == 200 && form.text.contains(#"name="number" value="0""#), "\(form.text)")
            #expect(!form.text.contains("Use the default again"))
            #expect(!server.panel.core.authenticator.hasMail)
            let address = "https://mail.example.org/hunter2"
            let saved = try await browser.post(path, ["value": " \(address) ", "number": "0"])
            #expect(saved.status == 303 && saved.headers[.location] == "/panel/settings", "\(saved.text)")
            guard case .http(address, nil)? = server.live.current.mail else {
                Issue.record("\(String(describing: server.live.current.mail))")
                return
            }
            #expect(server.panel.core.authenticator.hasMail)
            for page in [try await browser.get("/panel/settings"), try await browser.get(path)] {
                #expect(page.text.contains("Changed in the panel by The superAdmin"), "\(page.text)")
                #expect(page.text.contains("https://mail.example.org/…") && !page.text.contains("hunter2"))
            }
            let user = try #require(server.fixture.users["superAdmin"])
            let entries = try await server.fixture.pool.query(
                """
                SELECT key, marks FROM tombolo.changelog WHERE class = -1 AND marks::jsonb ->> 'table' = 'setting'
                """)
            #expect(try entries.map { try $0[0].string } == [user.stringValue])
            let marks = try entries.first?[1].string ?? ""
            #expect(marks.contains("https://mail.example.org/…") && !marks.contains("hunter2"), "\(marks)")

            let removed = try await browser.post(path, ["remove": "yes", "number": "1", "value": ""])
            #expect(removed.status == 303, "\(removed.text)")
            #expect(server.live.current.mail == nil && !server.panel.core.authenticator.hasMail)
            #expect(try await browser.get(path).text.contains("Set back to the default in the panel by The superAdmin"))
            #expect(try await server.count() == 2)
        }
    }

    @Test("mail is posted to the address that was entered")
    func mail() async throws {
        try await Self.with { server in
            let browser = try await server.browser()
            #expect(try await browser.post("/panel/settings/test-mail").status == 503)
            // Nothing listens there.
            let saved = try await browser.post(
                Self.path("TOMBOLO_MAIL"), ["value": "https://127.0.0.1:1/mails", "number": "0"])
            #expect(saved.status == 303, "\(saved.text)")
            var answer = try await browser.post("/panel/settings/test-mail")
            // On a busy machine, the time limit may come first.
            for _ in 0..<30 where answer.text.contains("The carrier didn&#39;t answer in time.") {
                answer = try await browser.post("/panel/settings/test-mail")
            }
            #expect(
                answer.status == 502 && answer.text.contains("The carrier&#39;s host refused the connection."),
                "\(answer.text)")
        }
    }

    @Test("another server follows within seconds, and one that starts later has the change from the beginning")
    func servers() async throws {
        try await Self.with { first in
            let fixture = first.fixture
            try await Server.with(fixture) { second in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await PanelFollower(
                            second.panel, configuration: fixture.adminServer.pool.configuration, logger: Server.logger
                        ).run()
                    }
                    let browser = try await first.browser()
                    let saved = try await browser.post(
                        Self.path("TOMBOLO_BACKUP_KEEP"), ["value": "12", "number": "0"])
                    #expect(saved.status == 303, "\(saved.text)")
                    while second.live.current.backups.keptCount != 12 {
                        try await Task.sleep(for: .milliseconds(50))
                    }
                    group.cancelAll()
                }
            }
            try await Server.with(fixture) { third in #expect(third.live.current.backups.keptCount == 12) }
            try await Server.with(fixture, ["TOMBOLO_BACKUP_KEEP": "3"]) { other in
                #expect(other.live.current.backups.keptCount == 3)
            }
        }
    }

    @Test("a setting from the server's environment is shown as fixed, and can't be changed")
    func fixed() async throws {
        try await Self.with(["TOMBOLO_BACKUP_KEEP": "3"]) { server in
            let browser = try await server.browser()
            let path = Self.path("TOMBOLO_BACKUP_KEEP")
            let page = try await browser.get(path).text
            #expect(page.contains("Set where the server is started") && page.contains(#"value="3""#), "\(page)")
            #expect(page.contains(" readonly") && !page.contains(">Save<"))
            #expect(try await browser.get("/panel/settings").text.contains("Set where the server is started."))
            let refused = try await browser.post(path, ["value": "5", "number": "0"])
            #expect(refused.status == 409, "\(refused.text)")
            #expect(try await server.count() == 0)
            #expect(server.live.current.backups.keptCount == 3)
        }
    }

    @Test(
        "an invalid value is refused at its field, which keeps what was entered",
        arguments: [
            ("TOMBOLO_MAIL", "command:/bin/true", "begins with https://"),
            ("TOMBOLO_MAIL", "folder:/tmp", "begins with https://"),
            ("TOMBOLO_MAIL", "http://127.0.0.1/", "begins with https://"),
            ("TOMBOLO_MAIL", "https://", "begins with https://"),
            ("TOMBOLO_ADMIN_URL", "admin.example.org", "give the address of this server"),
            ("TOMBOLO_BACKUP_EVERY", "daily", "Enter a number of hours"),
            ("TOMBOLO_SECOND_FACTOR", "ignored", "choose optional"),
        ])
    func wrong(_ name: String, _ value: String, _ reason: String) async throws {
        try await Self.with { server in
            let browser = try await server.browser()
            let answer = try await browser.post(Self.path(name), ["value": value, "number": "0"])
            #expect(answer.status == 422 && answer.text.contains(reason), "\(answer.text)")
            #expect(answer.text.contains(#"aria-invalid="true""#))
            if name != "TOMBOLO_SECOND_FACTOR" { #expect(answer.text.contains(#"value="\#(value)""#)) }
            #expect(try await server.count() == 0)
        }
    }

    @Test(
        "a refusal's reason is in the page's language",
        arguments: [
            ("de", "TOMBOLO_ADMIN_URL", "admin", "Geben Sie die Adresse dieses Servers ohne Leerzeichen an"),
            ("de", "TOMBOLO_SECOND_FACTOR", "ignored", "Wählen Sie optional, everywhere oder everybody."),
            ("de", "TOMBOLO_MAP_TILES", "https://a.example/{z}", "{x} fehlt, geben Sie eine Adresse mit"),
            ("fr", "TOMBOLO_BACKUP_EVERY", "daily", "ou 0 pour aucune sauvegarde automatique."),
            ("es", "TOMBOLO_BACKUP_KEEP", "0", "de copias de seguridad de 1 a 500."),
        ])
    func language(_ language: String, _ name: String, _ value: String, _ reason: String) async throws {
        try await Self.with { server in
            let browser = try await server.browser()
            browser.setCookie("tombolo_language", language)
            let answer = try await browser.post(Self.path(name), ["value": value, "number": "0"])
            #expect(answer.status == 422 && answer.text.contains(reason), "\(answer.text)")
        }
    }

    @Test("a mail program that somebody writes into the table is ignored")
    func smuggled() async throws {
        try await Self.with { server in
            let user = try #require(server.fixture.users["superAdmin"])
            try await server.fixture.pool.query(
                """
                INSERT INTO tombolo.setting (name, number, value, shown, user_id)
                VALUES ('TOMBOLO_MAIL', 1, 'command:/bin/true', 'x', $1), ('TOMBOLO_JWT_SECRET', 1, 'x', 'x', $1)
                """, [.bytea(user.bytes)])
            try await server.refresh()
            #expect(server.live.current.mail == nil)
            let page = try await server.browser().get("/panel/settings").text
            #expect(!page.contains("command:/bin/true"), "\(page)")
        }
    }

    @Test("if somebody else changed the setting since the form was shown, their change is kept and shown")
    func overtaken() async throws {
        try await Self.with { server in
            let (ann, bob) = (try await server.browser(), try await server.browser())
            let path = Self.path("TOMBOLO_BACKUP_EVERY")
            #expect(try await ann.post(path, ["value": "6", "number": "0"]).status == 303)
            let refused = try await bob.post(path, ["value": "48", "number": "0"])
            #expect(refused.status == 409, "\(refused.text)")
            #expect(refused.text.contains("The superAdmin has changed this to 6 in the meantime."), "\(refused.text)")
            #expect(refused.text.contains(#"name="number" value="1""#) && refused.text.contains(#"value="48""#))
            #expect(server.live.current.backups.interval == .seconds(6 * 3_600))
            #expect(try await bob.post(path, ["value": "48", "number": "7"]).status == 409)
            #expect(try await bob.post(path, ["remove": "yes", "number": "0"]).status == 409)
            #expect(try await bob.post(path, ["value": "48", "number": "1"]).status == 303)
            #expect(server.live.current.backups.interval == .seconds(48 * 3_600))
        }
    }

    @Test("settings take effect at once: for maps, links, backups, and who needs a second factor")
    func uses() async throws {
        try await Self.with { server in
            let browser = try await server.browser()
            func set(_ name: String, _ value: String) async throws {
                let saved = try await browser.post(Self.path(name), ["value": value, "number": "0"])
                #expect(saved.status == 303, "\(saved.text)")
            }
            let map = "/panel/map?latitude=1&longitude=1"
            #expect(try await browser.get(map).status == 404)
            let tiles = "https://tile.example.org/{z}/{x}/{y}.png"
            try await set("TOMBOLO_MAP_TILES", tiles)
            try await set("TOMBOLO_MAP_ATTRIBUTION", "© Land Survey")
            let picture = try await browser.get(map)
            #expect(picture.status == 200 && picture.text.contains("© Land Survey"), "\(picture.text)")
            let policy = try #require(try await browser.get("/panel").headers[.contentSecurityPolicy])
            #expect(policy.contains("img-src 'self' https://tile.example.org;"), "\(policy)")

            let (live, pool) = (server.live, server.fixture.adminServer.pool)
            let people = PeopleOptions(live)
            #expect(people.invitationLink == nil)
            try await set("TOMBOLO_ADMIN_URL", "https://admin.example.org")
            #expect(people.invitationLink == "https://admin.example.org/panel/invitation")
            #expect(server.panel.core.address?.text == "https://admin.example.org")
            try await set("TOMBOLO_INVITATION_URL", "https://example.org/join")
            #expect(people.invitationLink == "https://example.org/join")

            let backups = Backups(
                BackupSettings(folder: "/nowhere", database: pool.configuration), schedule: { live.current.backups },
                pool: pool, logger: Server.logger)
            try await set("TOMBOLO_BACKUP_EVERY", "0")
            try await set("TOMBOLO_BACKUP_KEEP", "2")
            #expect(backups.settings.interval == nil && backups.settings.keptCount == 2)

            let owner = try await server.browser("owner")
            #expect(try await owner.get("/panel").status == 200)
            try await set("TOMBOLO_SECOND_FACTOR", "everybody")
            let sent = try await owner.get("/panel")
            #expect(sent.status == 303 && sent.headers[.location] == "/panel/second-factor")
        }
    }

    @Test("only super administrators can see or change settings, and not while they view as somebody else")
    func access() async throws {
        try await Self.with { server in
            let path = Self.path("TOMBOLO_SECOND_FACTOR")
            let fields = ["value": "everybody", "number": "0"]
            for role in ["admin", "owner", "organizer", "registrar", "attendee"] {
                let browser = try await server.browser(role)
                let page = try await browser.get(path)
                #expect(page.status == 403 && !page.text.contains("TOMBOLO_SECOND_FACTOR</code>"), "\(role)")
                #expect(try await browser.post(path, fields).status == 403, "\(role)")
            }
            let boss = try await server.browser()
            #expect(try await boss.send(path, fields, token: nil).status == 403)
            for name in ["TOMBOLO_JWT_SECRET", "TOMBOLO_DATABASE_URL", "TOMBOLO_MAIL_SECRET", "nothing"] {
                #expect(try await boss.get(Self.path(name)).status == 404)
                #expect(try await boss.post(Self.path(name), fields).status == 404)
            }
            let token = try await boss.formToken()
            let user = try #require(server.fixture.users["superAdmin"])
            #expect(try await boss.post("/panel/view-as", ["user": "\(user)"]).status == 303)
            #expect(try await boss.send(path, fields, token: token).status == 403)
            #expect(try await server.count() == 0)
        }
    }
}
