import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel

@Suite struct APIPagesTests {
    // MARK: Sending the requests on pages

    private static func send(
        _ command: ShellCommand, _ client: any TestClientProtocol, _ authorization: String
    ) async throws -> Answer {
        var headers: HTTPFields = [:]
        for (name, value) in command.headers {
            let isToken = value == "Bearer $TOKEN"
            headers[try #require(HTTPField.Name(name))] = isToken ? authorization : value
        }
        let response = try await client.execute(
            uri: command.path, method: command.method, headers: headers,
            body: command.body.map { ByteBuffer(string: $0) })
        return Answer(status: response.status.code, text: String(buffer: response.body), headers: response.headers)
    }

    /// Sends a page's requests in order, exactly as shown except for the ids that the reader must fill in.
    /// - Parameters:
    ///   - link: the target to remove from a list of links.
    ///   - victim: the object to remove; nil for the one that the requests created.
    /// - Returns: the methods of all requests, and of those that change objects.
    private static func sendAll(
        _ page: String, _ client: any TestClientProtocol, _ authorization: String, link: ObjectId,
        victim: ObjectId? = nil
    ) async throws -> (all: [HTTPRequest.Method], changes: [HTTPRequest.Method]) {
        var made = victim?.stringValue
        var methods: (all: [HTTPRequest.Method], changes: [HTTPRequest.Method]) = ([], [])
        // The first request is the log-in.
        for text in ShellCommand.all(in: page).dropFirst() {
            var command = try ShellCommand(text)
            let isAboutLinks = command.path.contains("/relationships/")
            if command.method == .delete {
                command.choose(isAboutLinks ? link.stringValue : try #require(made, "\(text)"))
            }
            let answer = try await send(command, client, authorization)
            #expect((200..<300).contains(answer.status), "\(text)\n\(answer.text)")
            methods.all.append(command.method)
            guard command.method != .get, !isAboutLinks else { continue }
            methods.changes.append(command.method)
            if command.method == .post { made = made ?? answer.json["data"]?["id"]?.text }
        }
        return methods
    }

    // MARK: Tests

    struct Case: Sendable {
        let role: String
        let collection: String
        let changes: [HTTPRequest.Method]
    }

    @Test(
        "every request on a page works as shown, and a page only shows requests that its reader may send",
        arguments: [
            Case(role: "owner", collection: "sessions", changes: [.post, .patch, .delete]),
            Case(role: "owner", collection: "tickets", changes: [.post, .patch, .delete]),
            Case(role: "organizer", collection: "speakers", changes: [.post, .patch, .delete]),
            Case(role: "organizer", collection: "events", changes: [.patch]),
            Case(role: "coorganizer", collection: "sessions", changes: [.patch]),
            Case(role: "registrar", collection: "tickets", changes: []),
            Case(role: "superAdmin", collection: "events", changes: [.post, .patch, .delete]),
            Case(role: "superAdmin", collection: "users", changes: [.patch, .delete]),
            Case(role: "admin", collection: "users", changes: [.patch, .delete]),
            Case(role: "attendee", collection: "sessions", changes: []),
            Case(role: "attendee", collection: "users", changes: [.patch]),
        ])
    func requests(expected: Case) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: expected.role)
                let page = try await browser.get("/panel/api/\(expected.collection)")
                try #require(page.status == 200, "\(page.text)")
                let authorization = try #require(try await fixture.authorization(expected.role))
                let sent = try await Self.sendAll(
                    page.text, client, authorization, link: fixture.speakers[0],
                    victim: expected.collection == "users" ? fixture.users["attendee"] : nil)
                #expect(sent.changes == expected.changes)
                #expect(sent.all.filter { $0 == .get }.count >= 7, "\(sent.all)")
            }
        }
    }

    @Test("requests that change an object contain its current values, and so change nothing")
    func harmless() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let authorization = try #require(try await fixture.authorization("owner"))
                let page = try await browser.get("/panel/api/sessions").text
                let commands = try ShellCommand.all(in: page).dropFirst().map { try ShellCommand($0) }
                let list =
                    "SELECT md5(string_agg(s::text || l::text, '' ORDER BY s._id, l._id)) "
                    + "FROM session s JOIN session_speakers l ON l.owner = s._id"
                let before = try await fixture.pool.query(list)[0, 0].string
                var count = 0
                for command in commands where command.method == .patch || command.path.contains("/relationships/") {
                    guard command.method != .delete else { continue }
                    #expect(try await Self.send(command, client, authorization).status == 200, "\(command)")
                    count += 1
                }
                #expect(count >= 4)
                #expect(try await fixture.pool.query(list)[0, 0].string == before)
                // Requests that remove something name an id that doesn't exist.
                let removals = commands.filter { $0.method == .delete }
                #expect(removals.count == 2)
                for command in removals {
                    let answer = try await Self.send(command, client, authorization)
                    #expect([404, 422].contains(answer.status), "\(answer.text)")
                }
            }
        }
    }

    @Test("a page's log-in request returns a token, and the error on a page is the one that the request gets")
    func loginAndError() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let page = try await browser.get("/panel/api/tickets").text
                let login = try #require(ShellCommand.all(in: page).first)
                #expect(try await browser.get("/panel/api").text.contains("TOKEN=$(curl -s"))
                let ends = (start: "TOKEN=$(", end: " | jq -r .accessToken)")
                try #require(login.hasPrefix(ends.start) && login.hasSuffix(ends.end))
                let text = login.dropFirst(ends.start.count).dropLast(ends.end.count)
                let answer = try await Self.send(
                    ShellCommand(String(text).replacing("PASSWORD", with: ServiceFixture.password)), client, "")
                let token = try #require(answer.json["accessToken"]?.text, "\(answer.text)")
                let failing = try ShellCommand(try #require(ShellCommand.all(in: page, class: "refused").first))
                let refused = try await Self.send(failing, client, "Bearer \(token)")
                #expect(refused.status == 400)
                let shown = try #require(ShellCommand.all(in: page, class: "answer").first)
                let error = Answer(status: 400, text: shown, headers: [:]).json["errors"]?.list.first
                for member in ["code", "detail", "source", "meta"] {
                    #expect(error?[member] == refused.json["errors"]?.list.first?[member] && error?[member] != nil)
                }
            }
        }
    }

    @Test("pages show only classes that their reader may read, and no objects that the rules hide from them")
    func secrecy() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let attendee = try await PanelBrowser.loggedIn(client, as: "attendee")
                let list = try await attendee.get("/panel/api").text
                for name in ["events", "sessions", "tickets", "users"] {
                    #expect(list.contains("href=\"/panel/api/\(name)\""), "\(name)")
                }
                #expect(list.contains("href=\"/api/openapi.json\"") && !list.contains("speaker_contacts"))
                #expect(try await attendee.get("/panel/api/speaker_contacts").status == 403)
                #expect(try await attendee.get("/panel/api/nothing").status == 404)
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                #expect(try await owner.get("/panel/api").text.contains("href=\"/panel/api/speaker_contacts\""))
                #expect(try await owner.get("/panel/data/tickets").text.contains("href=\"/panel/api/tickets\""))
                let hidden = [fixture.draft, fixture.draftSession, fixture.draftTicket].map(\.stringValue)
                for (browser, names) in [
                    (attendee, ["events", "sessions", "tickets", "users"]),
                    (owner, ["events", "sessions", "tickets", "role_assignments"]),
                ] {
                    for name in names {
                        let page = try await browser.get("/panel/api/\(name)")
                        #expect(page.status == 200)
                        #expect(!page.text.contains("Secret") && !hidden.contains { page.text.contains($0) }, "\(name)")
                    }
                }
                let nobody = try await PanelBrowser(client).get("/panel/api/tickets")
                #expect(nobody.status == 303 && !nobody.text.contains("tickets</h1>"))
            }
        }
    }

    @Test(
        "fields are shown with their type and use, hidden ones aren't shown, and values can't break out of their quotes"
    )
    func fields() async throws {
        let rules: @Sendable ([String: ObjectId]) -> String = { _ in
            """
            version: 1
            rules:
              Ship:
                - name: everybody
                  applyWhen: {}
                  read: true
                  write: true
                  operations: {trash: true}
                  fields: {photo: {read: false, write: false}, kind: {read: true, write: false}}
                  additional_fields: {read: true, write: true}
              Sailor:
                - {name: everybody, applyWhen: {}, read: true, write: true, operations: {trash: true}}
            """
        }
        try await StructuredFormTests.run(rules: rules) { site in
            // A quote followed by a combining accent isn't a separate Character in Swift, but it's a quote to a shell.
            let name = "O'\u{301}Hara' $(id) `id` \\ \"x\" <b>&lt; '; id #"
            let sailor = try await site.fixture.sailor(name)
            let id = ObjectId.generate()
            try await site.fixture.pool.query(
                "INSERT INTO ship (_id, name, kind, seal) VALUES ($1, $2, 'tug', 'x')", [.bytea(id.bytes), .text(name)])
            try await site.fixture.pool.query(
                "INSERT INTO ship_crew (_id, owner, rank, target) VALUES ($1, $2, 'a0', $3)",
                [.bytea(ObjectId.generate().bytes), .bytea(id.bytes), .bytea(sailor.bytes)])
            let page = try await site.browser.get("/panel/api/ships").text
            for part in [
                "<code>name</code></th><td data-label=\"Type\">string</td><td data-label=\"On creation\">required",
                "<code>home.town</code>", "<code>holds[].boxes[].content</code>", "one of: freighter, ferry, tug",
                "array of resource identifiers", "<a href=\"/panel/api/sailors\">sailors</a>",
            ] {
                #expect(page.contains(part), "\(part)")
            }
            let kind = try #require(page.components(separatedBy: "<code>kind</code>").dropFirst().first)
            #expect(kind.prefix(600).contains("read only"), "\(kind.prefix(600))")
            #expect(!page.contains("photo") && !page.contains("<b>"))
            let login = try await site.fixture.authenticator.login(
                email: ServiceFixture.email("ada"), password: ServiceFixture.password)
            let commands = try ShellCommand.all(in: page).dropFirst().map { try ShellCommand($0) }
            let update = try #require(commands.first { $0.method == .patch && $0.path == "/api/ships/\(id)" })
            let sent = Answer(status: 0, text: try #require(update.body), headers: [:]).json
            #expect(sent["data"]?["attributes"]?["name"] == .string(name))
            let methods = try await Self.sendAll(page, site.client, "Bearer \(login.token)", link: sailor)
            #expect(methods.changes == [.post, .patch, .delete])
        }
    }
}
