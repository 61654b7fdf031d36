import AdminPanel
import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import PostgresClient
import ServiceTestSupport
import TestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

@Suite struct BackupPagesTests {
    private static let path = "/panel/backups"

    /// A panel with backups, which are only made by the test's own steps.
    private static func with(
        _ body:
            @escaping @Sendable (ServiceFixture, any TestClientProtocol, Backups, _ folder: String) async throws ->
            Void
    ) async throws {
        let cluster = try await TestCluster.shared()
        try await ServiceFixture.with { fixture in
            try await withTemporaryFolder { url in
                let folder = url.path()
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
                let settings = BackupSettings(
                    folder: folder, database: fixture.pool.configuration, interval: nil, program: cluster.dumpProgram)
                let server = fixture.adminServer
                let backups = Backups(
                    settings,
                    restoring: RestoreSettings(
                        database: fixture.pool.configuration.database("postgres"), program: cluster.restoreProgram
                    ) { _ in }, pool: server.pool, logger: Logger(label: "backups"))
                let panel = AdminPanel(
                    rules: LiveRules(fixture.rules), pool: server.pool, authenticator: server.authenticator,
                    models: fixture.adminModels, backups: backups)
                try await PanelBrowser.with(fixture, panel: panel) { _, client in
                    try await body(fixture, client, backups, folder)
                }
            }
        }
    }

    private static func now() -> Int64 { Date().microsecondsSince1970 }

    /// Makes a backup with the button.
    /// - Returns: its name.
    private static func make(_ browser: PanelBrowser, _ backups: Backups) async throws -> String {
        try #require(try await browser.post(path).status == 303)
        try await backups.step(now: now())
        return try #require(try await backups.overview().items.first?.name.text)
    }

    @Test("a button makes a backup, which is shown while it waits, listed, and downloaded byte for byte")
    func download() async throws {
        try await Self.with { _, client, backups, folder in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await browser.get(Self.path).text.contains("There are no backups yet."))
            #expect(try await browser.post(Self.path).status == 303)
            let waiting = try await browser.get(Self.path).text
            #expect(waiting.contains("data-follow") && waiting.contains(">waiting<"))
            #expect(try await browser.post(Self.path).status == 409)
            try await backups.step(now: Self.now())
            let name = try #require(try await backups.overview().items.first?.name.text)
            let page = try await browser.get(Self.path).text
            #expect(page.contains(name) && page.contains("The superAdmin") && !page.contains("data-follow"))
            let cookie = try #require(browser.cookie("tombolo_panel"))
            let token = PanelBrowser.encode(try await browser.formToken())
            let answer = try await client.execute(
                uri: "\(Self.path)/\(name)/download", method: .post,
                headers: [
                    .cookie: "tombolo_panel=\(cookie)", .contentType: "application/x-www-form-urlencoded",
                ], body: ByteBuffer(string: "_token=\(token)"))
            let bytes = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
            #expect(answer.status == .ok && Array(answer.body.readableBytesView) == Array(bytes))
            #expect(answer.headers[.contentLength] == "\(bytes.count)")
            #expect(answer.headers[.contentDisposition] == "attachment; filename=\"\(name)\"")
        }
    }

    @Test("backups are only for users who may change every app's matrix, and only while they act as themselves")
    func access() async throws {
        try await Self.with { fixture, client, backups, folder in
            let boss = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let name = try await Self.make(boss, backups)
            for role in ["admin", "owner", "organizer", "registrar", "attendee"] {
                let browser = try await PanelBrowser.loggedIn(client, as: role)
                for path in [Self.path, "\(Self.path)/\(name)/delete", "\(Self.path)/\(name)/restore"] {
                    let answer = try await browser.get(path)
                    #expect(answer.status == 403 && !answer.text.contains("PostgreSQL"), "\(role) \(path)")
                }
                for path in [
                    Self.path, "\(Self.path)/\(name)/delete", "\(Self.path)/\(name)/download",
                    "\(Self.path)/\(name)/restore", "\(Self.path)/kept/app/restore", "\(Self.path)/kept/app/delete",
                ] {
                    #expect(try await browser.post(path).status == 403, "\(role) \(path)")
                }
                #expect(try await !browser.get("/panel").text.contains(Self.path))
            }
            // Nothing happens without the form's token.
            #expect(try await boss.send("\(Self.path)/\(name)/download", [:], token: nil).status == 403)
            let user = try #require(fixture.users["superAdmin"])
            let token = try await boss.formToken()
            #expect(try await boss.post("/panel/view-as", ["user": "\(user)"]).status == 303)
            #expect(try await boss.get(Self.path).status == 403)
            #expect(try await boss.send("\(Self.path)/\(name)/download", [:], token: token).status == 403)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [name])
        }
    }

    @Test(
        "downloading and deleting ask for the password again, deleting asks for confirmation, and the audit log says who did it"
    )
    func deleting() async throws {
        try await Self.with { fixture, client, backups, folder in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let name = try await Self.make(browser, backups)
            try await PanelBrowser.ageProofs(fixture.pool)
            for act in ["download", "delete"] {
                let asked = try await browser.post("\(Self.path)/\(name)/\(act)")
                #expect(asked.status == 403 && asked.text.contains("Enter your password"), "\(act)")
            }
            let proof = ["_password": ServiceFixture.password]
            #expect(try await browser.post("\(Self.path)/\(name)/download", proof).status == 200)
            let confirmation = try await browser.get("\(Self.path)/\(name)/delete")
            #expect(confirmation.status == 200 && confirmation.text.contains("Delete the backup"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [name])
            #expect(try await browser.post("\(Self.path)/\(name)/delete").status == 303)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
            #expect(try await browser.post("\(Self.path)/\(name)/delete").status == 404)
            let user = try #require(fixture.users["superAdmin"])
            let entries = try await fixture.pool.query(
                """
                SELECT key, marks::jsonb -> 'after' ->> 'act', marks::jsonb -> 'after' ->> 'backup' FROM tombolo.changelog
                WHERE class = -1 AND marks::jsonb ->> 'table' = 'panel_backup' ORDER BY seq
                """)
            #expect(try entries.map { try $0[1].string } == ["requested", "downloaded", "deleted"])
            #expect(try entries.allSatisfy { try $0[0].string == user.stringValue && $0[2].string == name })
        }
    }

    @Test(
        "a name that isn't on the list isn't found",
        arguments: [
            "..", "..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "tombolo-20260528T202640Z.dump", "secret.txt",
            "tombolo-20260528T202641Z.dump", "x%00.dump",
        ])
    func names(name: String) async throws {
        try await Self.with { _, client, _, folder in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            try Data("secret words".utf8).write(to: URL(filePath: "\(folder)/secret.txt"))
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/tombolo-20260528T202641Z.dump", withDestinationPath: "\(folder)/secret.txt")
            for act in ["download", "delete", "restore"] {
                let answer = try await browser.post("\(Self.path)/\(name)/\(act)")
                #expect([400, 404].contains(answer.status) && !answer.text.contains("secret words"), "\(answer.text)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        }
    }

    /// Retries while the server's pool finds its connections closed.
    private static func eventually<R>(_ body: () async throws -> R?) async throws -> R {
        for _ in 0..<50 {
            if let result = try? await body() { return result }
        }
        return try #require(try await body())
    }

    @Test(
        "a backup is restored from its page, which says what happens; the replaced database can be brought back and deleted"
    )
    func restoring() async throws {
        try await Self.with { fixture, client, backups, _ in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let name = try await Self.make(browser, backups)
            let count = "SELECT count(*) FROM track"
            let before = try await fixture.pool.query(count)[0, 0].int
            try await fixture.pool.execute("INSERT INTO track (_id, name) VALUES (substr(sha256('x'), 1, 12), 'Late')")
            let page = "\(Self.path)/\(name)/restore"
            #expect(try await browser.get(Self.path).text.contains(page))
            let confirmation = try await browser.get(page).text
            #expect(
                confirmation.contains("Restore the backup")
                    && confirmation.contains("anyone who has lost access since then"))
            try await PanelBrowser.ageProofs(fixture.pool)
            #expect(try await browser.post(page).text.contains("Enter your password"))
            #expect(try await browser.post(page, ["_password": ServiceFixture.password]).status == 303)
            let waiting = try await browser.get(Self.path).text
            #expect(waiting.contains("\(name) is being restored") && waiting.contains("data-follow"))
            try await backups.step(now: Self.now())
            #expect(try await Self.eventually { try await fixture.pool.query(count)[0, 0].int } == before)

            // The log-in is back as it was in the backup, but its cookie was replaced when the password was given.
            #expect(try await Self.eventually { try await browser.get(Self.path).status } == 303)
            let again = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let after = try await again.get(Self.path).text
            let kept = try #require(after.firstMatch(of: /test\d+_before_\w+Z/)?.output).description
            #expect(after.contains(">Restores<") && after.contains("is now called \(kept)."))
            let back = "\(Self.path)/kept/\(kept)/restore"
            #expect(try await again.get(back).text.contains("Bring the database back"))
            #expect(try await again.post(back).status == 303)
            // A few seconds later, so the name differs.
            try await backups.step(now: Self.now() + 5_000_000)
            #expect(try await Self.eventually { try await fixture.pool.query(count)[0, 0].int } == before + 1)
            let last = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let end = try await last.get(Self.path).text
            let other = try #require(end.firstMatch(of: /kept\/(test\d+_before_\w+Z)\/delete/)?.output.1).description
            #expect(other != kept)
            let deletion = "\(Self.path)/kept/\(other)/delete"
            #expect(try await last.get(deletion).text.contains("This can't be undone"))
            #expect(try await last.post(deletion, ["_password": ServiceFixture.password]).status == 303)
            #expect(try await last.post(deletion, ["_password": ServiceFixture.password]).status == 404)
            #expect(try await !last.get(Self.path).text.contains("/kept/"))
        }
    }

    @Test("if a server can't restore, its pages say how to turn that on")
    func notRestoring() async throws {
        let cluster = try await TestCluster.shared()
        try await ServiceFixture.with { fixture in
            try await withTemporaryFolder { url in
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: url.path())
                let server = fixture.adminServer
                let backups = Backups(
                    BackupSettings(
                        folder: url.path(), database: fixture.pool.configuration, interval: nil,
                        program: cluster.dumpProgram), pool: server.pool, logger: Logger(label: "backups"))
                let panel = AdminPanel(
                    rules: LiveRules(fixture.rules), pool: server.pool, authenticator: server.authenticator,
                    models: fixture.adminModels, backups: backups)
                try await PanelBrowser.with(fixture, panel: panel) { _, client in
                    let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                    let name = try await Self.make(browser, backups)
                    let page = try await browser.get(Self.path).text
                    #expect(page.contains("TOMBOLO_RESTORE_URL") && !page.contains("Restore…"))
                    let answer = try await browser.get("\(Self.path)/\(name)/restore")
                    #expect(answer.status == 404 && answer.text.contains("TOMBOLO_RESTORE_URL"))
                }
            }
        }
    }

    @Test("a failed backup is shown with what to do")
    func failure() async throws {
        try await Self.with { _, client, backups, folder in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await browser.post(Self.path).status == 303)
            try FileManager.default.removeItem(atPath: folder)
            try await backups.step(now: Self.now())
            let page = try await browser.get(Self.path)
            #expect(page.status == 503 && page.text.contains("install -d -m 700"), "\(page.text)")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let after = try await browser.get(Self.path).text
            #expect(after.contains("Backups that failed") && after.contains("install -d -m 700"), "\(after)")
        }
    }

    @Test("if backups are off, the page says how to turn them on")
    func off() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let page = try await browser.get(Self.path)
                #expect(page.status == 200 && page.text.contains("TOMBOLO_BACKUP_URL"))
                #expect(try await browser.post(Self.path).status == 404)
            }
        }
    }
}
