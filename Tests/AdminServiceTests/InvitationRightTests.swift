import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel

/// Who may invite to which role, and whether that right still holds when an invitation is accepted.
@Suite struct InvitationRightTests {
    @Test(
        "nobody invites to a role they may not give: an organizer can't invite an owner, nor a co-organizer their equal",
        arguments: ["organizer", "coorganizer", "registrar", "attendee", "stranger"])
    func invitingAbove(actor: String) async throws {
        try await InvitationSite.run { site in
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

    @Test("owners can invite to roles below theirs, administrators to any role but super administrator")
    func invitingBelow() async throws {
        try await InvitationSite.run { site in
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
            // Unknown roles, roles that don't exist in this scope, and hostile text.
            for (body, text) in [
                (
                    #"{"email": "a@b.org", "role": "organiser", "scope": "\#(site.fixture.event)"}"#,
                    "Did you mean 'organizer'?"
                ),
                (#"{"email": "a@b.org", "role": "organizer"}"#, "Send its id as 'scope'"),
                (#"{"email": "a@b.org", "role": "admin", "scope": "\#(site.fixture.event)"}"#, "applies everywhere"),
                (#"{"email": "a@b.org", "role": "organizer", "scope": "1 OR 1=1"}"#, "isn't the key"),
                (#"{"email": "a@b.org", "role": "", "scope": "\#(site.fixture.event)"}"#, "isn't the name of a role"),
                (
                    #"{"email": "a@b.org\r\nBcc: x@y.org", "role": "organizer", "scope": "\#(site.fixture.event)"}"#,
                    "can't be used"
                ),
                (#"{"email": "nothing", "role": "organizer", "scope": "\#(site.fixture.event)"}"#, "cannot be used"),
                (#"{"email": "a@b.org", "role": "x", "class": "User"}"#, "grants roles"),
            ] {
                let answer = try await site.call(.post, "/invitations", as: "superAdmin", body: body)
                #expect(answer.status == 422, "\(body): \(answer.text)")
                #expect(answer.text.contains(text) || text == "can't be used", "\(body): \(answer.text)")
            }
        }
    }

    @Test("on acceptance, the inviter must still be permitted, and their account must not be disabled")
    func demotedInviter() async throws {
        try await InvitationSite.run { site in
            let token = try await site.invite(site.attendee, "organizer").json["token"]?.text
            // The owner hands the event over and becomes an organizer, who can't give roles.
            let to = try #require(site.fixture.users["registrar"])
            let moved = try await site.call(
                .post, "/roles/transfer", as: "owner", body: #"{"scope": "\#(site.fixture.event)", "to": "\#(to)"}"#)
            #expect(moved.status == 200, "\(moved.text)")
            let refused = try await site.accept(token, as: "attendee")
            #expect(refused.status == 409 && refused.text.contains("may no longer grant"), "\(refused.text)")
            let joined = try await site.invite("new@example.org", "moderator", as: "admin")
            try await site.fixture.pool.query(
                "UPDATE tombolo.account SET disabled_at = now() WHERE email = $1",
                [.text(ServiceFixture.email("admin"))])
            try await site.set(registration: "none")
            let disabled = try await site.join(joined.json["token"]?.text)
            #expect(disabled.status == 409 && disabled.text.contains("may no longer grant"), "\(disabled.text)")
            #expect(try await site.roles(site.attendee) == [])
            #expect(
                try await site.fixture.pool.query("SELECT 1 FROM tombolo.account WHERE email = 'new@example.org'")
                    .isEmpty, "All or nothing")
        }
    }

    @Test("an invitation to a trashed event or a removed role grants nothing and says so")
    func changedWorld() async throws {
        try await InvitationSite.run { site in
            let token = try await site.invite(site.attendee, "moderator").json["token"]?.text
            _ = try await site.call(.post, "/admin/events/\(site.fixture.event)/trash", as: "admin")
            let trashed = try await site.accept(token, as: "attendee")
            #expect(trashed.status == 409 && trashed.text.contains("in the trash"), "\(trashed.text)")
            #expect(try await site.invite("x@example.org", "moderator").status == 409)
            try await site.fixture.pool.execute(
                "UPDATE event SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL")
            try await site.fixture.pool.execute("UPDATE tombolo.invitation SET role = 'herald'")
            let gone = try await site.accept(token, as: "attendee")
            #expect(gone.status == 409 && gone.text.contains("The role 'herald' no longer exists"), "\(gone.text)")
            // As left behind by another app: the invitation's class can't grant roles.
            try await site.fixture.pool.execute(
                "UPDATE tombolo.invitation SET role = 'moderator', class = 'Membership'")
            let foreign = try await site.accept(token, as: "attendee")
            #expect(
                foreign.status == 409 && foreign.text.contains("Nothing grants this invitation's role"),
                "\(foreign.text)")
            try await site.fixture.pool.execute("UPDATE tombolo.invitation SET class = 'RoleAssignment'")
            #expect(try await site.accept(token, as: "attendee").status == 200)
        }
    }

    @Test("if two people are invited to own an event, only one becomes its owner")
    func exclusiveRoles() async throws {
        try await InvitationSite.run { site in
            let late = try await site.invite(site.attendee, "owner", as: "admin")
            let taken = try await site.accept(late.json["token"]?.text, as: "attendee")
            #expect(taken.status == 409 && taken.text.contains("only one person can have"), "\(taken.text)")
            // An event without an owner.
            let event = try await site.fixture.rows().insert("Event", ["name": "Empty"])
            let tokens = [
                (
                    try await site.invite(site.attendee, "owner", as: "admin", scope: event).json["token"]?.text,
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
}
