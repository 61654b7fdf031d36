import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloServerModel

/// Who may accept an invitation: anyone with its token, once, never by guessing, also with a new account.
@Suite struct InvitationAcceptanceTests {
    @Test("tokens can't be guessed: altered or shortened tokens, or ones with another invitation's id, don't work")
    func guessing() async throws {
        try await InvitationSite.run { site in
            let one = try #require(try await site.invite(site.attendee, "moderator").json["token"]?.text)
            let other = try #require(try await site.invite("b@example.org", "moderator").json["token"]?.text)
            // 12 bytes of id encode as 16 characters.
            let mixed = String(other.prefix(16)) + String(one.dropFirst(16))
            for text in [
                mixed, String(one.dropLast()), one + "A", String(one.reversed()), "", " ", "AAAA", "é",
                String(repeating: "A", count: 59), String(repeating: "A", count: 10_000),
            ] {
                #expect(try await site.accept(text, as: "attendee").status == 404)
                #expect(try await site.join(text).status == 404)
            }
            #expect(try await site.call(.post, "/invitations/accept", as: "attendee", body: "{}").status == 400)
            #expect(try await site.roles(site.attendee) == [])
            #expect(try await site.accept(one, as: "attendee").status == 200)
        }
    }

    @Test("concurrent acceptances, however many and from wherever, create one grant and one account")
    func atTheSameTime() async throws {
        try await InvitationSite.run { site in
            try await site.set(registration: "none")
            let token = try await site.invite(site.attendee, "moderator").json["token"]?.text
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
            #expect(try await site.roles(site.attendee) == ["moderator"])
            #expect(try await site.roles("new@example.org") == ["moderator"])
        }
    }

    @Test("a new account gets the invited address, but only where the token proves who owns it")
    func joining() async throws {
        try await InvitationSite.run { site in
            let token = try await site.invite("new@example.org", "moderator").json["token"]?.text
            // Here, addresses are confirmed by mail, and no mail was sent to this one.
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
            let known = try await site.invite(site.attendee, "moderator").json["token"]?.text
            try await site.fixture.pool.execute("UPDATE tombolo.invitation SET is_mailed = true")
            let taken = try await site.join(known)
            #expect(taken.status == 409 && taken.text.contains("has an account"), "\(taken.text)")
            #expect(try await site.accept(known, as: "attendee").status == 200)
        }
    }

    @Test("accepting from a mail verifies the address, once; accepting a token handed over by the inviter doesn't")
    func verifying() async throws {
        try await InvitationSite.run { site in
            func isVerified() async throws -> Bool {
                try await site.fixture.pool.query(
                    "SELECT verified_at IS NOT NULL FROM tombolo.account WHERE email = $1", [.text(site.attendee)])[
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
            let handed = try await site.invite(site.attendee, "moderator").json["token"]?.text
            #expect(try await site.accept(handed, as: "attendee").status == 200)
            #expect(try await !isVerified())
            #expect(try await !mayMake())
            let mailed = try await site.invite(site.attendee, "registrar").json["token"]?.text
            try await site.fixture.pool.execute("UPDATE tombolo.invitation SET is_mailed = true")
            #expect(try await site.accept(mailed, as: "organizer").status == 403)
            #expect(try await !isVerified())
            #expect(try await site.accept(mailed, as: "attendee").status == 200)
            #expect(try await isVerified())
            #expect(try await mayMake(), "immediately")
        }
    }
}
