import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite("People get roles by invitation, transfer them, and see who has which")
struct PeoplePagesTests {
    private func roles(_ role: String, _ fixture: ServiceFixture) async throws -> [String] {
        try await fixture.pool.query(
            """
            SELECT r.role FROM role_assignment r WHERE r."user" = $1 AND r.event = $2 ORDER BY 1
            """, [.objectId(try #require(fixture.users[role])), .objectId(fixture.event)]
        ).map { try $0[0].string }
    }

    /// The token of the link on a page.
    private func token(_ page: String) throws -> String {
        String(try #require(page.firstMatch(of: /panel\/invitation\?token=([A-Za-z0-9_.~-]+)/)).1)
    }

    @Test("an invitation's link is shown once, gives its role, and gives nothing to anybody else")
    func inviting() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                let path = "/panel/people?class=RoleAssignment&scope=\(fixture.event)"
                let page = try await owner.get(path)
                #expect(page.status == 200 && page.text.contains("Roles in Island Days"), "\(page.text)")
                #expect(page.text.contains("coorganizer") && page.text.contains("Invite somebody"))
                #expect(!page.text.contains("Secret"))

                let fields = [
                    "class": "RoleAssignment", "scope": fixture.event.stringValue, "role": "organizer",
                    "email": ServiceFixture.email("attendee"),
                ]
                let sent = try await owner.post("/panel/people/invite", fields)
                #expect(sent.status == 200 && sent.text.contains("This server doesn't send e-mail."), "\(sent.text)")
                let token = try token(sent.text)
                let listed = try await owner.get(path).text
                #expect(listed.contains("attendee@example.org") && !listed.contains(token))
                #expect(try await owner.post("/panel/people/invite", fields).status == 409)

                // A user with another address gets nothing; without a log-in, a visitor learns only that there is an invitation.
                let stranger = try await PanelBrowser.loggedIn(client, as: "stranger")
                #expect(try await stranger.post("/panel/invitation/accept", ["token": token]).status == 403)
                let open = try await PanelBrowser(client).get("/panel/invitation?token=\(token)")
                #expect(open.status == 200 && open.text.contains("/panel/invitation/accept?token=\(token)"))
                #expect(!open.text.contains("attendee@"))
                let without = try await PanelBrowser(client).get("/panel/invitation/accept?token=\(token)")
                #expect(without.status == 303 && without.headers[.location]?.hasPrefix("/panel/login?next=") == true)

                let attendee = try await PanelBrowser.loggedIn(client, as: "attendee")
                let asked = try await attendee.get("/panel/invitation/accept?token=\(token)").text
                #expect(asked.contains("You are logged in as attendee@example.org"))
                let accepted = try await attendee.post("/panel/invitation/accept", ["token": token])
                #expect(accepted.status == 303, "\(accepted.text)")
                #expect(try await roles("attendee", fixture) == ["organizer"])
                #expect(try await attendee.get("/panel").text.contains("You now have the role organizer."))
                #expect(try await attendee.post("/panel/invitation/accept", ["token": token]).status == 409)
                #expect(try await owner.get(path).text.contains("Open invitations") == false)
            }
        }
    }

    @Test("an invitation can be sent again with a new link, and revoked")
    func revoking() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                let sent = try await owner.post(
                    "/panel/people/invite",
                    ["scope": fixture.event.stringValue, "role": "moderator", "email": "new@example.org"])
                let first = try token(sent.text)
                let list = try await owner.get("/panel/people?scope=\(fixture.event)").text
                let revoke = String(
                    try #require(list.firstMatch(of: /action="(\/panel\/people\/invitations\/[0-9a-f]+\/revoke)"/)).1)
                // A user who can't invite anybody here sees no invitation, and can't do anything to one.
                let stranger = try await PanelBrowser.loggedIn(client, as: "stranger")
                #expect(try await stranger.post(revoke).status == 404)
                #expect(try await stranger.get("/panel/people?scope=\(fixture.event)").text.contains("new@") == false)
                let done = try await owner.post(revoke)
                #expect(done.status == 303 && done.headers[.location]?.contains(fixture.event.stringValue) == true)
                #expect(
                    try await owner.get("/panel/people").text.contains("The invitation of new@example.org was revoked.")
                )
                #expect(try await owner.post(revoke).status == 409)
                let joining = try await PanelBrowser(client).send(
                    "/panel/invitation", ["token": first, "password": "a long enough password", "name": "<b>"],
                    token: nil, headers: [.origin: "http://localhost"])
                #expect(joining.status >= 400 && joining.text.contains("&lt;b&gt;"), "\(joining.text)")
                // The new link creates an account and gives it the role.
                let again = try await owner.post(
                    "/panel/people/invite",
                    ["scope": fixture.event.stringValue, "role": "moderator", "email": "new@example.org"])
                let link = try token(again.text)
                func join() async throws -> Answer {
                    try await PanelBrowser(client).send(
                        "/panel/invitation", ["token": link, "password": "a long enough password"], token: nil,
                        headers: [.origin: "http://localhost"])
                }
                // Without mail, the link proves nothing about the address.
                let unproven = try await join()
                #expect(
                    unproven.status == 409 && unproven.text.contains("wasn&#39;t sent by e-mail"), "\(unproven.text)")
                try await fixture.pool.execute("UPDATE tombolo.invitation SET is_mailed = true")
                let joined = try await join()
                #expect(
                    joined.status == 201 && joined.text.contains("Your account has the role moderator."),
                    "\(joined.text)")
                let foreign = try await PanelBrowser(client).send(
                    "/panel/invitation", ["token": first, "password": "x"], token: nil,
                    headers: [.origin: "https://evil.example"])
                #expect(foreign.status == 403)
            }
        }
    }

    @Test("all open invitations to a scope are listed, however many newer ones there are elsewhere")
    func manyInvitations() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let inviter = try #require(fixture.users["superAdmin"])
                func invite(_ name: String, to role: String, _ scope: ObjectId?, _ ids: ClosedRange<Int>) async throws {
                    try await fixture.pool.query(
                        """
                        INSERT INTO tombolo.invitation
                            (id, token_hash, email, class, role, scope, invited_by, created_at, sent_at,
                            expires_at, is_mailed)
                        SELECT decode(lpad(to_hex(g), 24, '0'), 'hex'), sha256(int8send(g)), $1 || g || '@example.org',
                            'RoleAssignment', $2, $3, $4, now(), now(), now() + interval '7 days', true
                        FROM generate_series($5::bigint, $6::bigint) g
                        """,
                        [
                            .text(name), .text(role), .text(scope?.stringValue), .objectId(inviter),
                            .int64(Int64(ids.lowerBound)), .int64(Int64(ids.upperBound)),
                        ])
                }
                try await invite("everywhere", to: "admin", nil, 1...1)
                try await invite("within", to: "moderator", fixture.event, 2...131)
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let everywhere = try await browser.get("/panel/people").text
                #expect(everywhere.contains("everywhere1@example.org") && !everywhere.contains("within131@"))
                let within = try await browser.get("/panel/people?scope=\(fixture.event)").text
                #expect(within.contains("within2@example.org") && within.contains("within131@example.org"))
                #expect(!within.contains("everywhere1@example.org"))
            }
        }
    }

    @Test("only roles that the user may give are offered")
    func offeredRoles() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                func offered(_ role: String, _ path: String) async throws -> [String] {
                    let page = try await PanelBrowser.loggedIn(client, as: role).get(path).text
                    guard let form = page.firstRange(of: "invite-role\" name=") else { return [] }
                    let options = page[form.upperBound...]
                    return options.prefix(upTo: options.firstRange(of: "</select>")?.lowerBound ?? options.endIndex)
                        .matches(of: /option value="([^"]+)"/).map { String($0.output.1) }
                }
                let event = "/panel/people?scope=\(fixture.event)"
                let everywhere = try await offered("superAdmin", "/panel/people")
                #expect(everywhere.contains("superAdmin"))
                let fewer = try await offered("admin", "/panel/people")
                #expect(!fewer.contains("superAdmin"))
                let within = try await offered("owner", event)
                #expect(within.contains("organizer"))
                let none = try await offered("attendee", event)
                #expect(none.isEmpty)
            }
        }
    }

    @Test("the owner can transfer their role, and nobody else can")
    func transfer() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let to = try #require(fixture.users["coorganizer"])
                let fields = [
                    "class": "RoleAssignment", "scope": fixture.event.stringValue, "role": "owner",
                    "to": to.stringValue,
                ]
                let organizer = try await PanelBrowser.loggedIn(client, as: "organizer")
                #expect(try await organizer.post("/panel/people/transfer", fields).status == 403)
                let page = try await organizer.get("/panel/people?scope=\(fixture.event)").text
                #expect(!page.contains("Hand over the role owner"))
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                let own = try await owner.get("/panel/people?scope=\(fixture.event)").text
                #expect(own.contains("Hand over the role owner") && own.contains(to.stringValue), "\(own)")
                let done = try await owner.post("/panel/people/transfer", fields)
                #expect(done.status == 303, "\(done.text)")
                #expect(try await roles("coorganizer", fixture).contains("owner"))
                #expect(try await roles("owner", fixture) == ["organizer"])
                #expect(try await owner.post("/panel/people/transfer", fields).status == 403)
            }
        }
    }

    @Test("objects that don't exist and objects that the user may not see are refused alike")
    func hostile() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                for (query, status) in [
                    ("class=User", 404), ("class=%3Cscript%3E", 404), ("scope=x", 404),
                    ("scope=\(fixture.draft)", 404), ("scope=000000000000000000000000", 404), ("q=%27%22", 200),
                ] {
                    let answer = try await owner.get("/panel/people?\(query)")
                    #expect(answer.status == status, "\(query): \(answer.text)")
                    #expect(!answer.text.contains("<script>") && !answer.text.contains("Secret Days"))
                }
                for role in ["superAdmin", "admin", "nothing", ""] {
                    let answer = try await owner.post(
                        "/panel/people/invite",
                        ["scope": fixture.event.stringValue, "role": role, "email": "a@example.org"])
                    #expect([403, 422].contains(answer.status), "\(role): \(answer.text)")
                }
                let everywhere = try await owner.post(
                    "/panel/people/invite", ["role": "superAdmin", "email": "a@example.org"])
                #expect(everywhere.status == 403, "\(everywhere.text)")
                #expect(try await fixture.pool.query("SELECT 1 FROM tombolo.invitation").isEmpty)
            }
        }
    }
}
