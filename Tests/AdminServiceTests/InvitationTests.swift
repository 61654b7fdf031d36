import AdminService
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import PostgresValues
import ServiceTestSupport
import TestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// Invitations over HTTP, with PostgreSQL: sending, listing, accepting, revoking, expiring.
@Suite struct InvitationTests {
    @Test("an owner invites, the invited user accepts with their account, and has the role once")
    func accepting() async throws {
        try await InvitationSite.run { site in
            let sent = try await site.invite("Attendee@Example.org ", "coorganizer")
            #expect(sent.status == 201 && sent.json["state"] == "open", "\(sent.text)")
            #expect(sent.json["email"]?.text == site.attendee)
            let token = try #require(sent.json["token"]?.text)
            #expect(sent.json["link"]?.text == "https://example.org/invited?token=\(token)")
            let stored = try await site.fixture.pool.query("SELECT t::text FROM tombolo.invitation t")[0, 0].string
            #expect(!stored.contains(token), "Only the hash is kept")

            #expect(try await site.accept(token, as: "registrar").status == 403, "A different address")
            #expect(try await site.call(.post, "/invitations/accept", body: "{}").status == 401)
            let accepted = try await site.accept(token, as: "attendee")
            #expect(accepted.status == 200 && accepted.json["isNew"] == true, "\(accepted.text)")
            #expect(try await site.roles(site.attendee) == ["coorganizer"])
            let again = try await site.accept(token, as: "attendee")
            #expect(again.status == 409 && again.text.contains("already been accepted"), "\(again.text)")
            // The role applies immediately.
            let patch =
                #"{"data": {"type": "sessions", "id": "\#(site.fixture.sessions[0])", "attributes": {"title": "X"}}}"#
            let changed = try await site.call(
                .patch, "/api/sessions/\(site.fixture.sessions[0])", as: "attendee", body: patch,
                type: "application/vnd.api+json")
            #expect(changed.status == 200, "\(changed.text)")
            // A user who already has the role doesn't get it twice.
            let second = try await site.invite(site.attendee, "coorganizer")
            let had = try await site.accept(second.json["token"]?.text, as: "attendee")
            #expect(had.status == 200 && had.json["isNew"] == false, "\(had.text)")
            #expect(try await site.roles(site.attendee) == ["coorganizer"])
        }
    }

    @Test("an address spelled with different code points is a different address")
    func spelledAddresses() async throws {
        try await InvitationSite.run { site in
            let (invited, other) = ("ren\u{E9}@example.org", "rene\u{301}@example.org")
            func rename(_ old: String, _ new: String) async throws {
                try await site.fixture.pool.query(
                    "UPDATE tombolo.account SET email = $2 WHERE email = $1", [.text(old), .text(new)])
            }
            let sent = try await site.invite(invited, "coorganizer")
            #expect(sent.status == 201, "\(sent.text)")
            // The user logs in by address, so they log in before it changes.
            let authorization = try #require(try await site.fixture.authorization("attendee"))
            func accept() async throws -> Answer {
                try await site.call(
                    .post, "/invitations/accept", body: #"{"token": "\#(sent.json["token"]?.text ?? "")"}"#,
                    headers: [.authorization: authorization])
            }
            try await rename(site.attendee, other)
            let refused = try await accept()
            #expect(refused.status == 403, "\(refused.text)")
            #expect(try await site.roles(other).isEmpty)
            try await rename(other, invited)
            let accepted = try await accept()
            #expect(accepted.status == 200, "\(accepted.text)")
            #expect(try await site.roles(invited) == ["coorganizer"])
        }
    }

    @Test("the answer is the same whether or not the address has an account")
    func secrecy() async throws {
        try await InvitationSite.run { site in
            func shape(_ answer: Answer) -> (Int, Set<String>) {
                guard case .object(let members) = answer.json else { return (answer.status, []) }
                return (answer.status, Set(members.keys))
            }
            let known = shape(try await site.invite(site.attendee, "moderator"))
            let unknown = shape(try await site.invite("nobody@example.org", "moderator"))
            #expect(known.0 == 201 && unknown.0 == 201)
            #expect(known.1 == unknown.1)
        }
    }

    @Test("an invitation ends after seven days, when revoked, or when a newer token replaces its token")
    func ending() async throws {
        try await InvitationSite.run { site in
            let sent = try await site.invite(site.attendee, "moderator")
            let (id, token) = (try #require(sent.json["id"]?.text), sent.json["token"]?.text)
            // The clock goes back, so that this is within the one-minute pause however slow the test is.
            site.clock.advance(seconds: -600)
            let early = try await site.call(.post, "/invitations/\(id)/resend", as: "owner")
            #expect(early.status == 429, "\(early.text)")
            site.clock.advance(seconds: 661)
            let renewed = try await site.call(.post, "/invitations/\(id)/resend", as: "owner")
            #expect(renewed.status == 200 && renewed.json["sendCount"] == 2, "\(renewed.text)")
            #expect(try await site.accept(token, as: "attendee").status == 404, "The old token is dead")
            let newer = renewed.json["token"]?.text

            site.clock.advance(seconds: 7 * 86_400)
            let expired = try await site.accept(newer, as: "attendee")
            #expect(expired.status == 409 && expired.text.contains("expired"), "\(expired.text)")
            // Sending it again restarts the seven days.
            let third = try await site.call(.post, "/invitations/\(id)/resend", as: "owner")
            #expect(third.status == 200, "\(third.text)")
            for role in ["organizer", "stranger", "attendee"] {
                let answer = try await site.call(.post, "/invitations/\(id)/revoke", as: role)
                #expect([403, 404].contains(answer.status), "\(role): \(answer.text)")
            }
            let revoked = try await site.call(.post, "/invitations/\(id)/revoke", as: "owner")
            #expect(revoked.status == 200 && revoked.json["state"] == "revoked", "\(revoked.text)")
            for answer in [
                try await site.accept(third.json["token"]?.text, as: "attendee"),
                try await site.call(.post, "/invitations/\(id)/revoke", as: "owner"),
                try await site.call(.post, "/invitations/\(id)/resend", as: "owner"),
            ] {
                #expect(answer.status == 409 && answer.text.contains("revoked"), "\(answer.text)")
            }
            #expect(try await site.roles(site.attendee) == [])
            // There is room for exactly one new invitation.
            #expect(try await site.invite(site.attendee, "moderator").status == 201)
            let doubled = try await site.invite(site.attendee, "moderator")
            #expect(doubled.status == 409 && doubled.text.contains("send that one again"), "\(doubled.text)")
        }
    }

    @Test("an invitation can be sent ten times, and a user can have a hundred open ones")
    func bounds() async throws {
        try await InvitationSite.run { site in
            let id = try #require(try await site.invite(site.attendee, "moderator").json["id"]?.text)
            try await site.fixture.pool.execute("UPDATE tombolo.invitation SET send_count = 10")
            site.clock.advance(seconds: 61)
            #expect(try await site.call(.post, "/invitations/\(id)/resend", as: "owner").status == 409)
            try await site.fixture.pool.query(
                """
                INSERT INTO tombolo.invitation (id, token_hash, email, class, role, invited_by, created_at, sent_at,
                    expires_at, is_mailed)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), sha256('x'), n || '@x.org', 'RoleAssignment', 'moderator',
                    $1, now(), now(), now() + interval '1 day', false FROM generate_series(1, 99) n
                """, [.objectId(try #require(site.fixture.users["owner"]))])
            let full = try await site.invite("next@example.org", "moderator")
            #expect(full.status == 409 && full.text.contains("Too many"), "\(full.text)")
            // Other users aren't affected.
            #expect(try await site.invite("next@example.org", "moderator", as: "admin").status == 201)
        }
    }

    @Test("people see the invitations that they made or could make, page by page, and no others")
    func listing() async throws {
        try await InvitationSite.run { site in
            _ = try await site.invite("a@example.org", "moderator")
            _ = try await site.invite("b@example.org", "organizer", as: "admin")
            _ = try await site.invite("c@example.org", "moderator", as: "stranger", scope: site.fixture.draft)
            _ = try await site.invite("d@example.org", "admin", as: "admin", everywhere: true)
            func emails(_ role: String, _ query: String = "") async throws -> [String] {
                let answer = try await site.call(.get, "/invitations\(query)", as: role)
                #expect(answer.status == 200 && !answer.text.contains("token"), "\(answer.text)")
                return (answer.json["invitations"]?.list ?? []).compactMap { $0["email"]?.text }.sorted()
            }
            #expect(try await emails("owner") == ["a@example.org", "b@example.org"])
            #expect(try await emails("stranger") == ["c@example.org"])
            #expect(try await emails("superAdmin").count == 4)
            #expect(try await emails("superAdmin", "?scope=\(site.fixture.draft)") == ["c@example.org"])
            for role in ["organizer", "attendee"] {
                #expect(try await site.call(.get, "/invitations", as: role).status == 403)
            }
            for query in ["?state=x", "?after=x", "?email=a", "?class=a&class=b"] {
                #expect(try await site.call(.get, "/invitations\(query)", as: "owner").status == 400, "\(query)")
            }
            try await site.fixture.pool.query(
                """
                INSERT INTO tombolo.invitation (id, token_hash, email, class, role, scope, invited_by, created_at, sent_at,
                    expires_at, is_mailed)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), sha256('x'), n || '@x.org', 'RoleAssignment', 'moderator',
                    $2, $1, now(), now(), now() + interval '1 day', false FROM generate_series(1, 150) n
                """,
                [
                    .objectId(try #require(site.fixture.users["admin"])), .text(site.fixture.event.stringValue),
                ])
            let first = try await site.call(.get, "/invitations", as: "owner").json
            #expect(first["invitations"]?.list.count == 100)
            let next = try #require(first["next"]?.text)
            let second = try await site.call(.get, "/invitations?after=\(next)", as: "owner").json
            #expect(second["invitations"]?.list.count == 52 && second["next"] == .null)
        }
    }

    @Test(
        "the mail with the link goes to the invited address, and the inviter doesn't get the token",
        .timeLimit(.minutes(15)))
    func mailing() async throws {
        try await ServiceFixture.with { fixture in
            let folder = MailFolder()
            defer { folder.remove() }
            let room = MailRoom(.folder(folder.url), logger: Logger(label: "mail"))
            let models = fixture.adminModels
            let authenticator = try await fixture.adminAuthenticator(mail: room)
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: models.liveRules(), models: models,
                authenticator: authenticator, people: PeopleOptions(invitationLink: "https://example.org/i?x=1"))
            let running = Task { try await room.run() }
            try await app.test(.router) { client in
                let call = ServiceTestSupport.Caller(client, fixture)
                let body = #"{"email": "new@example.org", "role": "moderator", "scope": "\#(fixture.event)"}"#
                let sent = try await call(.post, "/invitations", as: "owner", body: body)
                #expect(
                    sent.status == 201 && sent.json["token"] == nil && sent.json["isMailed"] == true, "\(sent.text)")
                let text = try await folder.mails(1)[0]
                #expect(text.contains("To: new@example.org") && text.contains("The owner invites you"), "\(text)")
                let token = try #require(
                    text.split(separator: "&token=").dropFirst().first?.prefix { !$0.isWhitespace })
                let joined = try await call(
                    .post, "/invitations/join", body: #"{"token": "\#(token)", "password": "long enough"}"#)
                #expect(joined.status == 201, "\(joined.text)")
                let account = try await fixture.pool.query(
                    "SELECT verified_at IS NOT NULL FROM tombolo.account WHERE email = 'new@example.org'")
                #expect(try account[0, 0].bool, "reading the mail proves the address")
            }
            running.cancel()
        }
    }
}
