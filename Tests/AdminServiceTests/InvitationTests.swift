import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// Invitations over HTTP, with PostgreSQL. No mail can be sent in most of them, so that the inviter gets the token.
@Suite struct InvitationTests {
    /// A clock that tests move.
    private final class Clock: Sendable {
        private let offset = Mutex<Double>(0)
        var now: Date { Date().addingTimeInterval(offset.withLock { $0 }) }
        func advance(seconds: Double) { offset.withLock { $0 += seconds } }
    }

    private struct Site: Sendable {
        let fixture: ServiceFixture
        let call: ServiceTestSupport.Caller
        let clock: Clock

        func invite(
            _ email: String, _ role: String, as inviter: String = "owner", scope: ObjectId? = nil,
            everywhere: Bool = false
        ) async throws -> Answer {
            let place = everywhere ? "" : #", "scope": "\#(scope ?? fixture.event)""#
            return try await call(
                .post, "/invitations", as: inviter, body: #"{"email": "\#(email)", "role": "\#(role)"\#(place)}"#)
        }

        func accept(_ token: String?, as role: String) async throws -> Answer {
            try await call(.post, "/invitations/accept", as: role, body: #"{"token": "\#(token ?? "")"}"#)
        }

        func join(_ token: String?, password: String = "long enough") async throws -> Answer {
            try await call(
                .post, "/invitations/join",
                body: #"{"token": "\#(token ?? "")", "password": "\#(password)", "name": "New"}"#)
        }

        func roles(_ email: String) async throws -> [String] {
            try await fixture.pool.query(
                """
                SELECT r.role FROM role_assignment r JOIN tombolo.account a ON a.id = r."user"
                WHERE a.email = $1 ORDER BY 1
                """, [.text(email)]
            ).map { try $0[0].string }
        }

        func set(registration confirmation: String) async throws {
            try await fixture.pool.query(
                """
                INSERT INTO tombolo.provider (name, enabled, settings) VALUES ('local-userpass', true, $1::text::jsonb)
                ON CONFLICT (name) DO UPDATE SET settings = EXCLUDED.settings
                """, [.text(#"{"registration": true, "confirmation": "\#(confirmation)"}"#)])
        }
    }

    private static func run(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        try await ServiceFixture.with { fixture in
            let clock = Clock()
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: fixture.adminModels.liveRules(),
                models: fixture.adminModels, authenticator: fixture.adminServer.authenticator,
                people: PeopleOptions(invitationLink: "https://example.org/invited") { clock.now })
            try await app.test(.router) {
                try await body(Site(fixture: fixture, call: ServiceTestSupport.Caller($0, fixture), clock: clock))
            }
        }
    }

    private static let attendee = ServiceFixture.email("attendee")

    @Test("an owner invites, the invited person accepts with their account, and has the role once")
    func accepting() async throws {
        try await Self.run { site in
            let sent = try await site.invite("Attendee@Example.org ", "coorganizer")
            #expect(sent.status == 201 && sent.json["state"] == "open", "\(sent.text)")
            #expect(sent.json["email"]?.text == Self.attendee)
            let token = try #require(sent.json["token"]?.text)
            #expect(sent.json["link"]?.text == "https://example.org/invited?token=\(token)")
            let stored = try await site.fixture.pool.query("SELECT t::text FROM tombolo.invitation t")[0, 0].string
            #expect(!stored.contains(token), "Only the hash is kept")

            #expect(try await site.accept(token, as: "registrar").status == 403, "Another address")
            #expect(try await site.call(.post, "/invitations/accept", body: "{}").status == 401)
            let accepted = try await site.accept(token, as: "attendee")
            #expect(accepted.status == 200 && accepted.json["isNew"] == true, "\(accepted.text)")
            #expect(try await site.roles(Self.attendee) == ["coorganizer"])
            let again = try await site.accept(token, as: "attendee")
            #expect(again.status == 409 && again.text.contains("accepted already"), "\(again.text)")
            // The role counts at once.
            let patch =
                #"{"data": {"type": "sessions", "id": "\#(site.fixture.sessions[0])", "attributes": {"title": "X"}}}"#
            let changed = try await site.call(
                .patch, "/api/sessions/\(site.fixture.sessions[0])", as: "attendee", body: patch,
                type: "application/vnd.api+json")
            #expect(changed.status == 200, "\(changed.text)")
            // Somebody who has the role already gets no second one.
            let second = try await site.invite(Self.attendee, "coorganizer")
            let had = try await site.accept(second.json["token"]?.text, as: "attendee")
            #expect(had.status == 200 && had.json["isNew"] == false, "\(had.text)")
            #expect(try await site.roles(Self.attendee) == ["coorganizer"])
        }
    }

    @Test("the answer is the same whether the address has an account or not")
    func secrecy() async throws {
        try await Self.run { site in
            func shape(_ answer: Answer) -> (Int, Set<String>) {
                guard case .object(let members) = answer.json else { return (answer.status, []) }
                return (answer.status, Set(members.keys))
            }
            let known = shape(try await site.invite(Self.attendee, "moderator"))
            let unknown = shape(try await site.invite("nobody@example.org", "moderator"))
            #expect(known.0 == 201 && unknown.0 == 201)
            #expect(known.1 == unknown.1)
        }
    }

    @Test(
        "nobody invites to a role that they may not give: an organizer no owner, a co-organizer not even themselves",
        arguments: ["organizer", "coorganizer", "registrar", "attendee", "stranger"])
    func invitingAbove(actor: String) async throws {
        try await Self.run { site in
            for role in ["owner", "organizer", "coorganizer", "registrar", "moderator"] {
                let answer = try await site.invite("second@example.org", role, as: actor)
                #expect(answer.status == 403, "\(actor) \(role): \(answer.text)")
            }
            for role in ["admin", "superAdmin"] {
                let answer = try await site.invite("second@example.org", role, as: actor, everywhere: true)
                #expect(answer.status == 403, "\(actor) \(role): \(answer.text)")
            }
            #expect(try await site.fixture.pool.query("SELECT 1 FROM tombolo.invitation").isEmpty)
        }
    }

    @Test("owners give what is below them, administrators everything but super administrator")
    func invitingBelow() async throws {
        try await Self.run { site in
            for (role, status) in [("owner", 403), ("organizer", 201), ("registrar", 201)] {
                #expect(try await site.invite("a@example.org", role).status == status, "\(role)")
            }
            #expect(try await site.invite("a@example.org", "organizer", scope: site.fixture.draft).status == 403)
            for (role, status) in [("admin", 201), ("superAdmin", 403)] {
                let answer = try await site.invite("b@example.org", role, as: "admin", everywhere: true)
                #expect(answer.status == status, "\(role): \(answer.text)")
            }
            let top = try await site.invite("c@example.org", "superAdmin", as: "superAdmin", everywhere: true)
            #expect(top.status == 201, "\(top.text)")
            // What isn't a role, or not in this scope, and hostile text.
            for (body, text) in [
                (
                    #"{"email": "a@b.org", "role": "organiser", "scope": "\#(site.fixture.event)"}"#,
                    "Did you mean 'organizer'?"
                ),
                (#"{"email": "a@b.org", "role": "organizer"}"#, "Send its id as 'scope'"),
                (#"{"email": "a@b.org", "role": "admin", "scope": "\#(site.fixture.event)"}"#, "counts everywhere"),
                (#"{"email": "a@b.org", "role": "organizer", "scope": "1 OR 1=1"}"#, "isn't the key"),
                (#"{"email": "a@b.org", "role": "", "scope": "\#(site.fixture.event)"}"#, "isn't the name of a role"),
                (
                    #"{"email": "a@b.org\r\nBcc: x@y.org", "role": "organizer", "scope": "\#(site.fixture.event)"}"#,
                    "can't be used"
                ),
                (#"{"email": "nothing", "role": "organizer", "scope": "\#(site.fixture.event)"}"#, "cannot be used"),
                (#"{"email": "a@b.org", "role": "x", "class": "User"}"#, "gives roles"),
            ] {
                let answer = try await site.call(.post, "/invitations", as: "superAdmin", body: body)
                #expect(answer.status == 422, "\(body): \(answer.text)")
                #expect(answer.text.contains(text) || text == "can't be used", "\(body): \(answer.text)")
            }
        }
    }

    @Test("whoever invited must still be permitted when it's accepted, and have an account that isn't disabled")
    func demotedInviter() async throws {
        try await Self.run { site in
            let token = try await site.invite(Self.attendee, "organizer").json["token"]?.text
            // The owner hands the event over, and is an organizer, who gives no roles.
            let to = try #require(site.fixture.users["registrar"])
            let moved = try await site.call(
                .post, "/roles/transfer", as: "owner", body: #"{"scope": "\#(site.fixture.event)", "to": "\#(to)"}"#)
            #expect(moved.status == 200, "\(moved.text)")
            let refused = try await site.accept(token, as: "attendee")
            #expect(refused.status == 409 && refused.text.contains("may not give"), "\(refused.text)")
            let joined = try await site.invite("new@example.org", "moderator", as: "admin")
            try await site.fixture.pool.query(
                "UPDATE tombolo.account SET disabled_at = now() WHERE email = $1",
                [.text(ServiceFixture.email("admin"))])
            try await site.set(registration: "none")
            let disabled = try await site.join(joined.json["token"]?.text)
            #expect(disabled.status == 409 && disabled.text.contains("may not give"), "\(disabled.text)")
            #expect(try await site.roles(Self.attendee) == [])
            #expect(
                try await site.fixture.pool.query("SELECT 1 FROM tombolo.account WHERE email = 'new@example.org'")
                    .isEmpty, "All or nothing")
        }
    }

    @Test("an invitation ends after seven days, when it's revoked, and when a newer token took its place")
    func ending() async throws {
        try await Self.run { site in
            let sent = try await site.invite(Self.attendee, "moderator")
            let (id, token) = (try #require(sent.json["id"]?.text), sent.json["token"]?.text)
            let early = try await site.call(.post, "/invitations/\(id)/resend", as: "owner")
            #expect(early.status == 429, "\(early.text)")
            site.clock.advance(seconds: 61)
            let renewed = try await site.call(.post, "/invitations/\(id)/resend", as: "owner")
            #expect(renewed.status == 200 && renewed.json["sendCount"] == 2, "\(renewed.text)")
            #expect(try await site.accept(token, as: "attendee").status == 404, "The old token is dead")
            let newer = renewed.json["token"]?.text

            site.clock.advance(seconds: 7 * 86_400)
            let expired = try await site.accept(newer, as: "attendee")
            #expect(expired.status == 409 && expired.text.contains("expired"), "\(expired.text)")
            // Sending it again begins anew.
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
            #expect(try await site.roles(Self.attendee) == [])
            // There is room for a new one, and for one only.
            #expect(try await site.invite(Self.attendee, "moderator").status == 201)
            let doubled = try await site.invite(Self.attendee, "moderator")
            #expect(doubled.status == 409 && doubled.text.contains("send that one again"), "\(doubled.text)")
        }
    }

    @Test("one that is sent ten times is sent no more, and one person has no more than a hundred open")
    func bounds() async throws {
        try await Self.run { site in
            let id = try #require(try await site.invite(Self.attendee, "moderator").json["id"]?.text)
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
            // Nobody else is kept from it.
            #expect(try await site.invite("next@example.org", "moderator", as: "admin").status == 201)
        }
    }

    @Test("an invitation into an event that went to the trash, or for a role that is gone, gives nothing and says so")
    func changedWorld() async throws {
        try await Self.run { site in
            let token = try await site.invite(Self.attendee, "moderator").json["token"]?.text
            _ = try await site.call(.post, "/admin/events/\(site.fixture.event)/trash", as: "admin")
            let trashed = try await site.accept(token, as: "attendee")
            #expect(trashed.status == 409 && trashed.text.contains("in the trash"), "\(trashed.text)")
            #expect(try await site.invite("x@example.org", "moderator").status == 409)
            try await site.fixture.pool.execute(
                "UPDATE event SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL")
            try await site.fixture.pool.execute("UPDATE tombolo.invitation SET role = 'herald'")
            let gone = try await site.accept(token, as: "attendee")
            #expect(gone.status == 409 && gone.text.contains("no role 'herald' any more"), "\(gone.text)")
            // Of a class that gives no roles, as of another app that was taken away.
            try await site.fixture.pool.execute(
                "UPDATE tombolo.invitation SET role = 'moderator', class = 'Membership'")
            let foreign = try await site.accept(token, as: "attendee")
            #expect(foreign.status == 409 && foreign.text.contains("Nothing gives the role"), "\(foreign.text)")
            try await site.fixture.pool.execute("UPDATE tombolo.invitation SET class = 'RoleAssignment'")
            #expect(try await site.accept(token, as: "attendee").status == 200)
        }
    }

    @Test("tokens can't be guessed: none that is altered, shortened, or has another invitation's id works")
    func guessing() async throws {
        try await Self.run { site in
            let one = try #require(try await site.invite(Self.attendee, "moderator").json["token"]?.text)
            let other = try #require(try await site.invite("b@example.org", "moderator").json["token"]?.text)
            // 12 bytes of id are 16 characters.
            let mixed = String(other.prefix(16)) + String(one.dropFirst(16))
            for text in [
                mixed, String(one.dropLast()), one + "A", String(one.reversed()), "", " ", "AAAA", "é",
                String(repeating: "A", count: 59), String(repeating: "A", count: 10_000),
            ] {
                #expect(try await site.accept(text, as: "attendee").status == 404)
                #expect(try await site.join(text).status == 404)
            }
            #expect(try await site.call(.post, "/invitations/accept", as: "attendee", body: "{}").status == 400)
            #expect(try await site.roles(Self.attendee) == [])
            #expect(try await site.accept(one, as: "attendee").status == 200)
        }
    }

    @Test("however often and from wherever it's accepted at the same time, there is one grant and one account")
    func atTheSameTime() async throws {
        try await Self.run { site in
            try await site.set(registration: "none")
            let token = try await site.invite(Self.attendee, "moderator").json["token"]?.text
            let joining = try await site.invite("new@example.org", "moderator").json["token"]?.text
            let found = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 {
                    group.addTask { try await site.accept(token, as: "attendee").status }
                    group.addTask { try await site.join(joining).status }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(found.filter { $0 == 200 }.count == 1 && found.filter { $0 == 201 }.count == 1, "\(found)")
            #expect(found.allSatisfy { [200, 201, 409, 503].contains($0) }, "\(found)")
            #expect(try await site.roles(Self.attendee) == ["moderator"])
            #expect(try await site.roles("new@example.org") == ["moderator"])
        }
    }

    @Test("of two who are invited to own an event, one becomes its owner")
    func exclusiveRoles() async throws {
        try await Self.run { site in
            let late = try await site.invite(Self.attendee, "owner", as: "admin")
            let taken = try await site.accept(late.json["token"]?.text, as: "attendee")
            #expect(taken.status == 409 && taken.text.contains("only one can have"), "\(taken.text)")
            // An event without an owner.
            let event = try await site.fixture.rows().insert("Event", ["name": "Empty"])
            let tokens = [
                (
                    try await site.invite(Self.attendee, "owner", as: "admin", scope: event).json["token"]?.text,
                    "attendee"
                ),
                (
                    try await site.invite(
                        ServiceFixture.email("registrar"), "owner", as: "admin", scope: event
                    ).json["token"]?.text, "registrar"
                ),
            ]
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for (token, user) in tokens { group.addTask { try await site.accept(token, as: user).status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200, 409])
        }
    }

    @Test("a new account comes with the address that was invited, and only where that proves something")
    func joining() async throws {
        try await Self.run { site in
            let token = try await site.invite("new@example.org", "moderator").json["token"]?.text
            // Addresses are confirmed by mail here, and no mail went to this one.
            try await site.set(registration: "mail")
            site.fixture.adminServer.authenticator.forgetRoles()
            let unproven = try await site.join(token)
            #expect(unproven.status == 409 && unproven.text.contains("doesn't prove"), "\(unproven.text)")
            try await site.fixture.pool.execute("UPDATE tombolo.invitation SET is_mailed = true")
            for password in ["short", "", "new12345"] {
                #expect(try await site.join(token, password: password).status == 422)
            }
            let joined = try await site.join(token)
            #expect(joined.status == 201, "\(joined.text)")
            #expect(try await site.roles("new@example.org") == ["moderator"])
            let login = try await site.call(
                .post, "/login", body: #"{"email": "new@example.org", "password": "long enough"}"#)
            #expect(login.status == 200 && login.json["userID"] == joined.json["userID"], "\(login.text)")
            #expect(try await site.join(token).status == 409)
            let known = try await site.invite(Self.attendee, "moderator").json["token"]?.text
            try await site.fixture.pool.execute("UPDATE tombolo.invitation SET is_mailed = true")
            let taken = try await site.join(known)
            #expect(taken.status == 409 && taken.text.contains("has an account"), "\(taken.text)")
            #expect(try await site.accept(known, as: "attendee").status == 200)
        }
    }

    @Test("accepting what came by mail verifies the address, once, and what the inviter handed over doesn't")
    func verifying() async throws {
        try await Self.run { site in
            func isVerified() async throws -> Bool {
                try await site.fixture.pool.query(
                    "SELECT verified_at IS NOT NULL FROM tombolo.account WHERE email = $1", [.text(Self.attendee)])[
                        0, 0
                    ].bool
            }
            func mayMake() async throws -> Bool {
                let attendee = try #require(site.fixture.users["attendee"])
                let subject = try await site.fixture.adminServer.authenticator.subject(of: attendee)
                let permission = try #require(
                    site.fixture.adminModels.current.userPermissions(of: subject, inMatrixOf: "conference"))
                return permission.permissions.contains("createEvent")
            }
            try await site.fixture.pool.execute("UPDATE tombolo.account SET verified_at = NULL")
            site.fixture.forgetRoles()
            let handed = try await site.invite(Self.attendee, "moderator").json["token"]?.text
            #expect(try await site.accept(handed, as: "attendee").status == 200)
            #expect(try await !isVerified())
            #expect(try await !mayMake())
            let mailed = try await site.invite(Self.attendee, "registrar").json["token"]?.text
            try await site.fixture.pool.execute("UPDATE tombolo.invitation SET is_mailed = true")
            #expect(try await site.accept(mailed, as: "organizer").status == 403)
            #expect(try await !isVerified())
            #expect(try await site.accept(mailed, as: "attendee").status == 200)
            #expect(try await isVerified())
            #expect(try await mayMake(), "at once")
        }
    }

    @Test("people see the invitations that they made or could make, page by page, and no others")
    func listing() async throws {
        try await Self.run { site in
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

    @Test("the mail goes to the address that was invited, with a link, and the inviter doesn't get the token")
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
                #expect(try account[0, 0].bool, "whoever read the mail has the address")
            }
            running.cancel()
        }
    }
}
