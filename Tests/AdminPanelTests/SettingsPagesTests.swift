import AdminPanel
import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloServerModel

@Suite struct SettingsPagesTests {
    private static let environment = [
        "TOMBOLO_DATABASE_URL": "postgresql://admin_1:hunter2@db.example.org/tombolo", "TOMBOLO_JWT_SECRET": "hunter2",
        "TOMBOLO_MAIL": "https://mail.example.org/hunter2", "TOMBOLO_MAIL_SECRET": "hunter2",
        "TOMBOLO_HOST": "::1", "TOMBOLO_ADMIN_PORT": "9000",
    ]

    /// A panel that was started with these variables.
    private static func with(
        _ environment: [String: String], mail: MailHook? = nil,
        _ body: @escaping @Sendable (ServiceFixture, HTTPApplication, any TestClientProtocol) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let models = fixture.adminModels
            let authenticator = await Authenticator(
                pool: fixture.adminServer.pool,
                tokens: try TokenConfiguration(secret: String(repeating: "s", count: 32)),
                hasher: PasswordHasher(parameters: .weakForTests),
                mail: mail.map { MailRoom($0, logger: Logger(label: "mail")) }, grants: { models.current.grants })
            let panel = AdminPanel(
                rules: models.liveRules(), pool: fixture.adminServer.pool, authenticator: authenticator,
                models: models, settings: ServerSettings(environment: environment))
            try await PanelBrowser.with(fixture, panel: panel) { try await body(fixture, $0, $1) }
        }
    }

    @Test("super administrators see what the server was started with, but no secrets")
    func settings() async throws {
        try await Self.with(Self.environment) { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let page = try await browser.get("/panel/settings")
            #expect(page.status == 200, "\(page.text)")
            for variable in AdminServer.variables { #expect(page.text.contains(">\(variable.name)<")) }
            let version = try await fixture.pool.query("SELECT current_setting('server_version')")[0, 0].string
            for text in [
                "postgresql://admin_1@db.example.org/tombolo", "https://mail.example.org/…", "http://[::1]:9000",
                "PostgreSQL \(version), as tombolo_admin_of_", "not set (info)", "This page was loaded over HTTP",
                "TOMBOLO_BREACHED_PASSWORDS isn&#39;t set",
            ] { #expect(page.text.contains(text), "\(text): \(page.text)") }
            #expect(!page.text.contains("hunter2"))
            #expect(page.text.components(separatedBy: #"<td data-label="Value">set</td>"#).count == 3)
        }
    }

    @Test("a server without mail shows a warning, offers no test mail and sends none")
    func withoutMail() async throws {
        try await Self.with([:]) { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let page = try await browser.get("/panel/settings").text
            #expect(page.contains("This server doesn&#39;t send mail") && page.contains("not set (8081)"), "\(page)")
            #expect(!page.contains("/panel/settings/test-mail"))
            #expect(try await browser.post("/panel/settings/test-mail").status == 503)
        }
    }

    @Test("only super administrators can see the page or send a test mail, and the list of routes says so")
    func access() async throws {
        try await Self.with(Self.environment) { fixture, app, client in
            let routes = app.routes.filter { $0.path.hasPrefix("/panel/settings") && $0.method != "HEAD" }
            #expect(
                Set(routes.map { "\($0.method) \($0.path)" }) == [
                    "GET /panel/settings", "POST /panel/settings/test-mail", "GET /panel/settings/change/{name}",
                    "POST /panel/settings/change/{name}",
                ])
            #expect(routes.allSatisfy { $0.access == "update the permission matrix of every app" })
            for role in ["admin", "owner", "organizer", "attendee"] {
                let browser = try await PanelBrowser.loggedIn(client, as: role)
                #expect(try await browser.get("/panel/settings").status == 403, "\(role)")
                #expect(try await browser.post("/panel/settings/test-mail").status == 403, "\(role)")
                #expect(!(try await browser.get("/panel").text.contains("/panel/settings")), "\(role)")
            }
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await browser.get("/panel").text.contains("/panel/settings"))
            let forged = try await browser.send("/panel/settings/test-mail", [:], token: "x")
            #expect(forged.status == 403)
            let attendee = try #require(fixture.users["attendee"])
            try await browser.post("/panel/view-as", ["user": "\(attendee)"])
            #expect(try await browser.get("/panel/settings").status == 403)
            #expect(try await browser.post("/panel/settings/test-mail").status == 403)
        }
    }

    @Test("a test mail goes to the user's own address, subject to the limit on mails to an address")
    func testMail() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "mail-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await Self.with(["TOMBOLO_MAIL": "folder:\(folder.path())"], mail: .folder(folder)) { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let page = try await browser.get("/panel/settings").text
            #expect(
                page.contains("Mails don&#39;t reach anybody") && page.contains("TOMBOLO_ADMIN_URL isn&#39;t set"),
                "\(page)")
            for count in 1...5 {
                let sent = try await browser.post("/panel/settings/test-mail", ["to": "nobody@example.org"])
                #expect(sent.status == 303 && sent.headers[.location] == "/panel/settings", "\(sent.text)")
                let files = try FileManager.default.contentsOfDirectory(atPath: folder.path())
                #expect(files.count == count)
                let mail = try String(contentsOf: folder.appending(path: files[0]), encoding: .utf8)
                #expect(mail.contains("To: superadmin@example.org\nSubject: Test mail\n"))
            }
            #expect(try await browser.get("/panel/settings").text.contains("accepted a test mail to superadmin@"))
            let limited = try await browser.post("/panel/settings/test-mail")
            #expect(limited.status == 429 && limited.headers[.retryAfter] != nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()).count == 5)
        }
    }

    /// Sends a test mail. Retries while the machine is too busy for the carrier's time limit.
    private static func sendTestMail(_ browser: PanelBrowser) async throws -> Answer {
        while true {
            let answer = try await browser.post("/panel/settings/test-mail")
            let isLate = ["The carrier didn&#39;t answer in time.", "was killed by a signal"]
            if !isLate.contains(where: answer.text.contains) { return answer }
        }
    }

    @Test(
        "the carrier's answer is explained in words, with what to do",
        arguments: [
            (["/bin/false", "hunter2"], "The program /bin/false ended with exit code 1."),
            (["/nowhere/hunter"], "The program /nowhere/hunter couldn&#39;t be started."),
        ])
    func refused(_ words: [String], _ expected: String) async throws {
        try await Self.with([:], mail: .command(words)) { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let answer = try await Self.sendTestMail(browser)
            #expect(answer.status == 502 && answer.text.contains(expected), "\(answer.text)")
            #expect(!answer.text.contains("hunter2"))
        }
        try await Self.with([:], mail: .folder(URL(fileURLWithPath: "/proc/nowhere"))) { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let answer = try await browser.post("/panel/settings/test-mail")
            #expect(answer.status == 502 && answer.text.contains("The folder /proc/nowhere can&#39;t be written to."))
        }
    }

    @Test("a carrier's failure is shown at the top of the page, has the focus, and contains no secret")
    func problemOfCarrier() async throws {
        let carrier = MailHook.http(url: "https://127.0.0.1:1/hunter2", secret: "hunter2")
        try await Self.with([:], mail: carrier) { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let answer = try await Self.sendTestMail(browser)
            #expect(answer.status == 502, "\(answer.text)")
            let message =
                "The carrier&#39;s host refused the connection.</p><p>Check the host and the port in TOMBOLO_MAIL"
            #expect(answer.text.contains(message), "\(answer.text)")
            let parts = answer.text.components(
                separatedBy: #"<div class="problem" role="alert" tabindex="-1" autofocus>"#)
            #expect(parts.count == 2)
            #expect(parts.first?.contains("<h1>Settings</h1>") == true && parts.first?.contains("<h2 id=") == false)
            #expect(!answer.text.contains("hunter2"))
        }
    }
}
