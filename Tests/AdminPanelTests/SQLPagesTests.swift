import AdminPanel
import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloServerModel

@Suite struct SQLPagesTests {
    static let path = "/panel/sql"

    /// Limits that no statement in a test reaches, however busy the machine is.
    private static var patientBounds: SQLBounds {
        var bounds = SQLBounds()
        bounds.statementTimeout = .seconds(600)
        bounds.lockTimeout = .seconds(600)
        return bounds
    }

    /// A panel with a database user that may read sessions and events.
    /// - Parameters:
    ///   - bounds: nil for limits that no statement reaches.
    ///   - grant: SQL that gives the user more or other rights, with `WHO` for the user's name.
    static func with(
        _ bounds: SQLBounds? = nil, grant: String = "",
        _ body: @escaping @Sendable (ServiceFixture, HTTPApplication, any TestClientProtocol) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            var configuration = fixture.pool.configuration
            let name = "reader_of_\(configuration.database ?? "")"
            let user = PostgresSQL.quoteIdentifier(name)
            try await fixture.pool.execute(
                """
                CREATE ROLE \(user) LOGIN; GRANT SELECT ON session, event TO \(user);
                \(grant.replacing("WHO", with: user))
                """)
            configuration.user = name
            let models = fixture.adminModels
            let panel = AdminPanel(
                rules: models.liveRules(), pool: fixture.adminServer.pool,
                authenticator: fixture.adminServer.authenticator, models: models,
                settings: ServerSettings(environment: [:]),
                sql: SQLConsole(configuration, bounds: bounds ?? patientBounds))
            try await PanelBrowser.with(fixture, panel: panel) { try await body(fixture, $0, $1) }
            // Roles outlive databases.
            try await fixture.pool.execute("DROP OWNED BY \(user); DROP ROLE \(user)")
        }
    }

    @Test("a super administrator sees rows, NULL, bytes and columns as PostgreSQL writes them")
    func rows() async throws {
        try await Self.with { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await browser.get("/panel").text.contains(#"href="/panel/sql""#))
            #expect(try await browser.get(Self.path).text.contains("<textarea"))
            let statement =
                "SELECT title, NULL AS nothing, '<b>' AS mark, '\\x0aff'::bytea AS bytes\r\nFROM session ORDER BY 1"
            let page = try await browser.post(Self.path, ["sql": statement])
            #expect(page.status == 200, "\(page.text)")
            for text in [
                "<td>Talk 1</td>", #"<th scope="col">nothing</th>"#, #"<em class="quiet">NULL</em>"#, "&lt;b&gt;",
                "<td>\\x0aff</td>", "4 rows in ", "FROM session ORDER BY 1</textarea>",
            ] { #expect(page.text.contains(text), "\(text): \(page.text)") }
            let explained = try await browser.post(Self.path, ["sql": "EXPLAIN SELECT 1"])
            #expect(explained.status == 200 && explained.text.contains("QUERY PLAN"))
        }
    }

    @Test("an error has PostgreSQL's message, hint and position, and the statement stays in the form")
    func errors() async throws {
        try await Self.with { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let answer = try await browser.post(Self.path, ["sql": "SELECT 1,\r\n  titel FROM session"])
            #expect(answer.status == 422, "\(answer.text)")
            for text in ["titel", "does not exist", "Line 2, column 3", "session.title", "FROM session</textarea>"] {
                #expect(answer.text.contains(text), "\(text): \(answer.text)")
            }
            for statement in ["", " \n"] {
                #expect(try await browser.post(Self.path, ["sql": statement]).status == 422)
            }
            let long = "SELECT '\(String(repeating: "x", count: SQLBounds().statementBytes))'"
            #expect(try await browser.post(Self.path, ["sql": long]).text.contains("longer than"))
        }
    }

    private static let hostile = [
        "COMMIT; DELETE FROM session", "SELECT 1; SELECT 2", "DELETE FROM session",
        "WITH gone AS (DELETE FROM session RETURNING 1) SELECT * FROM gone", "CREATE TABLE mine (a int)",
        "CREATE TEMPORARY SEQUENCE mine", "SET TRANSACTION READ WRITE", "SET ROLE tombolo_admin",
        "SELECT set_config('transaction_read_only', 'off', false)", "COPY session TO PROGRAM 'cat'",
        "COPY session TO '/tmp/session'", "COPY session TO STDOUT", "SELECT pg_read_file('/etc/passwd')",
        "DO $$ BEGIN COMMIT; DELETE FROM session; END $$", "PREPARE TRANSACTION 'mine'",
        "SELECT * FROM tombolo.credential", "SELECT * FROM tombolo.account", "VACUUM",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> session_user",
    ]

    @Test("anything but a single reading statement is refused, and changes nothing")
    func refusals() async throws {
        try await Self.with { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            for statement in Self.hostile {
                let answer = try await browser.post(Self.path, ["sql": statement])
                #expect(answer.status == 422, "\(statement): \(answer.text)")
            }
            #expect(try await fixture.pool.query("SELECT count(*) FROM session")[0, 0].int == 4)
            #expect(try await browser.post(Self.path, ["sql": "SELECT 1"]).status == 200)
        }
    }

    @Test("no session state is left for the next statement")
    func sessions() async throws {
        try await Self.with { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            for statement in [
                "SET SESSION default_transaction_read_only = off", "SELECT set_config('tombolo.mark', 'left', false)",
                "SELECT pg_advisory_lock(4711)", "COMMIT", "ROLLBACK",
            ] {
                let answer = try await browser.post(Self.path, ["sql": statement])
                #expect(answer.status == 200, "\(statement): \(answer.text)")
            }
            let state = """
                SELECT 'mark' || coalesce(current_setting('tombolo.mark', true), '') || 'mark',
                    'only-' || current_setting('transaction_read_only'), 'got-' || pg_try_advisory_xact_lock(4711)
                """
            var page = try await browser.post(Self.path, ["sql": state]).text
            // The lock is released once the server notices that the connection is gone.
            while page.contains("<td>got-false</td>") { page = try await browser.post(Self.path, ["sql": state]).text }
            for text in ["<td>markmark</td>", "<td>only-on</td>", "<td>got-true</td>"] {
                #expect(page.contains(text), "\(text): \(page)")
            }
        }
    }

    @Test("a statement that takes too long or waits for a lock is stopped")
    func timeouts() async throws {
        var bounds = SQLBounds()
        bounds.statementTimeout = .milliseconds(300)
        bounds.timeoutPatience = .seconds(60)
        bounds.lockTimeout = .milliseconds(100)
        try await Self.with(bounds) { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            for sleep in ["SELECT pg_sleep(600)", "SELECT set_config('statement_timeout', '0', false), pg_sleep(600)"] {
                let answer = try await Self.run(sleep, browser)
                #expect(answer.status == 422 && answer.text.contains("statement timeout"), "\(answer.text)")
            }
            try await fixture.pool.transaction { connection in
                try await connection.execute("LOCK TABLE session IN ACCESS EXCLUSIVE MODE")
                let answer = try await Self.run("SELECT title FROM session", browser)
                #expect(answer.status == 422 && answer.text.contains("timeout"), "\(answer.text)")
            }
        }
    }

    @Test("a statement that catches its timeout is stopped by closing its connection, and PostgreSQL stops running it")
    func caughtTimeouts() async throws {
        var bounds = SQLBounds()
        bounds.statementTimeout = .milliseconds(300)
        bounds.timeoutPatience = .milliseconds(300)
        try await Self.with(bounds) { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let trap = "BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END"
            var answer: Answer
            // On a busy machine, the timeout may come before the first block, which then catches nothing.
            repeat {
                answer = try await Self.run("DO $$ BEGIN LOOP \(trap); END LOOP; END $$", browser)
            } while answer.text.contains("canceling statement due to statement timeout")
            #expect(answer.status == 422 && answer.text.contains("its connection was closed"), "\(answer.text)")
            while try await fixture.pool.query(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'DO %'"
            )[0][0].int64 > 0 {
                try await Task.sleep(for: .milliseconds(10))
            }
            // These limits may be too tight for a busy machine.
            var status = 0
            while status != 200 { status = try await Self.run("SELECT 1", browser).status }
        }
    }

    /// Runs a statement with tight limits. Runs it again if the process stalled so long beforehand that the session was ended.
    private static func run(_ statement: String, _ browser: PanelBrowser) async throws -> Answer {
        while true {
            let answer = try await browser.post(path, ["sql": statement])
            if answer.status != 503, !answer.text.contains("idle-in-transaction timeout") { return answer }
        }
    }

    @Test("of an arbitrarily long error, the beginning is shown")
    func longErrors() async throws {
        try await Self.with { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let raise = "RAISE EXCEPTION '%', repeat('x', 1000000) USING DETAIL = repeat('y', 1000000)"
            let answer = try await browser.post(Self.path, ["sql": "DO $$ BEGIN \(raise); END $$"])
            #expect(answer.status == 422 && answer.text.contains("xxx") && answer.text.contains("yyy"))
            #expect(answer.text.utf8.count < 50_000)
        }
    }

    @Test("of millions of rows, wide rows and huge cells, a limited part is shown, and the page says so")
    func sizes() async throws {
        var bounds = Self.patientBounds
        bounds.rows = 5
        bounds.cellBytes = 9
        bounds.receivedBytes = 4 << 20
        try await Self.with(bounds) { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            func run(_ statement: String) async throws -> Answer {
                try await browser.post(Self.path, ["sql": statement])
            }
            let many = try await run("SELECT 'row-' || generate_series(1, 50000000)")
            #expect(many.status == 200 && many.text.contains("only the first 5 are shown"), "\(many.text)")
            #expect(many.text.contains("<td>row-5</td>") && !many.text.contains("row-6"))
            let exact = try await run("SELECT n FROM generate_series(1, 5) n").text
            #expect(exact.contains("5 rows in ") && !exact.contains("There are more rows"))
            let cut = try await run("SELECT repeat('ä', 100)").text
            #expect(cut.contains("<td>ääää<em"), "\(cut)")
            let huge = try await run("SELECT repeat('x', 100000000)")
            #expect(huge.status == 422 && huge.text.contains("The result is too large"), "\(huge.text)")
            #expect(try await run("SELECT 1").status == 200)
        }
        var small = Self.patientBounds
        small.resultBytes = 1_000
        try await Self.with(small) { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let wide = try await browser.post(
                Self.path, ["sql": "SELECT repeat('x', 400) FROM generate_series(1, 100)"]
            ).text
            #expect(wide.contains("2 rows in ") && wide.contains("more rows than a page can show"), "\(wide)")
        }
    }

    @Test(
        "a database user with more rights than reading isn't used",
        arguments: [
            ("ALTER ROLE WHO SUPERUSER", "is a superuser"), ("ALTER ROLE WHO BYPASSRLS", "BYPASSRLS"),
            ("ALTER ROLE WHO REPLICATION", "REPLICATION"), ("ALTER ROLE WHO CREATEROLE", "CREATEROLE"),
            ("GRANT pg_execute_server_program TO WHO", "pg_execute_server_program"),
            ("GRANT pg_read_server_files TO WHO", "pg_read_server_files"),
            ("GRANT pg_signal_backend TO WHO", "pg_signal_backend"),
            ("GRANT pg_read_all_data TO WHO", "may read secrets in tombolo."),
            ("GRANT SELECT (user_id) ON tombolo.credential TO WHO", "may read secrets in tombolo.credential"),
            ("GRANT UPDATE (title) ON session TO WHO", "may write to public.session"),
            ("ALTER ROLE WHO NOINHERIT; GRANT tombolo_admin TO WHO", "may read secrets in tombolo."),
        ])
    func users(_ grant: String, _ reason: String) async throws {
        try await Self.with(grant: grant) { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let answer = try await browser.post(Self.path, ["sql": "SELECT 'it ' || 'ran'"])
            #expect(answer.status == 503 && answer.text.contains(reason), "\(answer.text)")
            #expect(!answer.text.contains("it ran"))
        }
    }

    @Test("a statement above the limit on simultaneous ones is refused with the advice to try again")
    func busy() async throws {
        var bounds = Self.patientBounds
        bounds.concurrency = 0
        try await Self.with(bounds) { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let answer = try await browser.post(Self.path, ["sql": "SELECT 1"])
            #expect(answer.status == 503 && answer.text.contains("Run it again in a few seconds."))
            #expect(answer.text.contains("SELECT 1</textarea>"))
        }
    }
}
