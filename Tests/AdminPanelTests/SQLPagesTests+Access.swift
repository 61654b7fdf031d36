import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP

/// Who may run statements, and where.
extension SQLPagesTests {
    @Test("only super administrators can run statements, not through a link, and not while viewing as somebody else")
    func access() async throws {
        try await Self.with { fixture, app, client in
            let routes = app.routes.filter { $0.path == Self.path && $0.method != "HEAD" }
            #expect(Set(routes.map(\.method)) == ["GET", "POST"])
            #expect(routes.allSatisfy { $0.access == "update the permission matrix of every app" && !$0.isOpen })
            let sent = ["sql": "SELECT title FROM session"]
            let nobody = PanelBrowser(client)
            #expect(try await nobody.get(Self.path).status == 303)
            #expect(try await nobody.send(Self.path, sent, token: "x").status == 401)
            for role in ["admin", "owner", "organizer", "attendee"] {
                let browser = try await PanelBrowser.loggedIn(client, as: role)
                #expect(try await browser.get(Self.path).status == 403, "\(role)")
                let answer = try await browser.post(Self.path, sent)
                #expect(answer.status == 403 && !answer.text.contains("Talk 1"), "\(role)")
                #expect(!(try await browser.get("/panel").text.contains(Self.path)), "\(role)")
            }
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await browser.send(Self.path, sent, token: "x").status == 403)
            let link = try await browser.get("\(Self.path)?sql=SELECT%20title%20FROM%20session")
            #expect(link.status == 200 && !link.text.contains("Talk 1") && !link.text.contains("FROM session"))
            for user in ["superAdmin", "attendee"] {
                let id = try #require(fixture.users[user])
                #expect(try await browser.post("/panel/view-as", ["user": "\(id)"]).status == 303)
                #expect(try await browser.get(Self.path).status == 403, "\(user)")
                #expect(try await browser.post(Self.path, sent).status == 403, "\(user)")
                #expect(try await browser.post("/panel/view-as/end").status == 303)
            }
        }
    }

    @Test("the password is asked for again, and the statement isn't lost")
    func password() async throws {
        try await Self.with { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            try await PanelBrowser.ageProofs(fixture.pool)
            let statement = "SELECT title\nFROM session"
            let asked = try await browser.post(Self.path, ["sql": statement])
            #expect(asked.text.contains(#"name="_password""#) && !asked.text.contains("Talk 1"), "\(asked.text)")
            var fields = Dictionary(uniqueKeysWithValues: PanelBrowser.hidden(asked.text))
            fields["_token"] = nil
            #expect(fields["sql"] == statement)
            fields["_password"] = ServiceFixture.password
            #expect(try await browser.post(Self.path, fields).text.contains("Talk 1"))
        }
    }

    @Test("a server without a database user for it has no such page")
    func off() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                #expect(try await browser.get(Self.path).status == 404)
            }
        }
        #expect(try SQLConsole.ofEnvironment(["TOMBOLO_SQL_URL": ""]) == nil)
        let error = #expect(throws: ConfigurationError.self) {
            _ = try SQLConsole.ofEnvironment(["TOMBOLO_SQL_URL": "postgresql://u:hunter2@%zz"])
        }
        #expect(error?.problems.first?.contains("hunter2") == false)
    }

    @Test("a position counts lines and code points from 1")
    func places() {
        let statement = "SELECT 'é👍',\n  x"
        for (position, line, column) in [(1, 1, 1), (13, 1, 13), (14, 2, 1), (16, 2, 3)] {
            let place = SQLPlace(position: position, in: "SELECT 'é👍',\n  x")
            let code = Array(statement.unicodeScalars)[position - 1]
            #expect(place.line == line && place.column == column, "\(position): \(code) \(place)")
        }
    }
}
