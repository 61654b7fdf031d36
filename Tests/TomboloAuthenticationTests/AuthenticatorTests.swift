import EventModels
import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore
import TomboloRules

@testable import TomboloAuthentication

@Suite struct AuthenticatorTests {
    private let tokens: TokenConfiguration

    init() throws { tokens = try TokenConfiguration(secret: String(repeating: "k", count: 40)) }

    private func withAuthenticator(_ body: (Authenticator, PostgresPool) async throws -> Void) async throws {
        let database = try await TestCluster.shared().createDatabase()
        let pool = PostgresPool(configuration: database)
        try await pool.withConnection { connection in
            try await PostgresSchema.install(EventModels.schema, on: connection)
            try await connection.execute(AuthenticationSchema.sql)
            // Making them again does no harm.
            try await connection.execute(AuthenticationSchema.sql)
        }
        let authenticator = await Authenticator(
            pool: pool, tokens: tokens, hasher: PasswordHasher(parameters: .weakForTests))
        try await body(authenticator, pool)
        await pool.shutdown()
    }

    @Test func whoRegistersCanLogIn() async throws {
        try await withAuthenticator { authenticator, _ in
            let user = try await authenticator.register(
                email: " Ann@Example.org ", password: "correct horse", displayName: "Ann")
            let token = try await authenticator.login(email: "ann@example.ORG", password: "correct horse")
            #expect(token.userID == user)
            let subject = try await authenticator.verify(token.token)
            #expect(subject == Subject(user: user))
        }
    }

    @Test func aWrongPasswordAndAnUnknownUserLookAlike() async throws {
        try await withAuthenticator { authenticator, pool in
            try await authenticator.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            try await pool.query(
                "INSERT INTO users (_id, email, display_name) VALUES ($1, 'imported@example.org', 'Imported')",
                [.bytea(ObjectId(high: 4, low: 4).bytes)])
            for (email, password) in [
                ("ann@example.org", "wrong horse"), ("bob@example.org", "correct horse"), ("ann@example.org", ""),
                ("imported@example.org", ""), ("imported@example.org", "anything else"), ("", ""),
                ("ann@example.org\u{0}", "correct horse"), ("ann@example.org", String(repeating: "x", count: 5_000)),
            ] {
                await #expect(throws: AuthenticationError.wrongCredentials) {
                    try await authenticator.login(email: email, password: password)
                }
            }
        }
    }

    @Test func tooManyFailuresWaitEvenWithTheRightPassword() async throws {
        try await withAuthenticator { authenticator, _ in
            try await authenticator.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            for _ in 0..<Authenticator.maximumFailedLogins {
                _ = try? await authenticator.login(email: "ann@example.org", password: "no", address: "192.0.2.1")
            }
            await #expect {
                try await authenticator.login(
                    email: "ann@example.org", password: "correct horse", address: "192.0.2.1")
            } throws: { error in
                if case .tooManyAttempts = error as? AuthenticationError { true } else { false }
            }
            _ = try await authenticator.login(
                email: "ann@example.org", password: "correct horse", address: "192.0.2.2")
        }
    }

    @Test func anEmailCanBeTakenOnce() async throws {
        try await withAuthenticator { authenticator, pool in
            try await authenticator.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            await #expect(throws: AuthenticationError.emailTaken) {
                try await authenticator.register(email: "ANN@example.org", password: "another one", displayName: "Ann")
            }
            #expect(try await pool.query("SELECT count(*) FROM users")[0, 0].int == 1)
            #expect(try await pool.query("SELECT count(*) FROM tombolo.credential")[0, 0].int == 1)
        }
    }

    @Test func unusableAccountsAreRefusedWithTheReason() async throws {
        try await withAuthenticator { authenticator, pool in
            for email in ["", "ann", "@example.org", "ann@", "ann@example", "a@b@c.d", "ann @example.org", "a@.org"] {
                await #expect(throws: AuthenticationError.self) {
                    try await authenticator.register(email: email, password: "correct horse", displayName: "A")
                }
            }
            for (password, name) in [
                ("short", "Ann"), (String(repeating: "x", count: 1_025), "Ann"), ("correct horse", "  "),
                ("correct horse", "A\u{0}"),
            ] {
                await #expect(throws: AuthenticationError.self) {
                    try await authenticator.register(email: "ann@example.org", password: password, displayName: name)
                }
            }
            let users = try await pool.query("SELECT count(*) FROM users")
            #expect(try users[0, 0].int == 0)
        }
    }

    @Test func rolesComeFromTheDatabaseAndBadRowsGiveNone() async throws {
        try await withAuthenticator { authenticator, pool in
            let user = try await authenticator.register(
                email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let event = ObjectId(high: 7, low: 7)
            try await pool.query("INSERT INTO event (_id, name) VALUES ($1, 'E')", [.bytea(event.bytes)])
            let token = try await authenticator.login(email: "ann@example.org", password: "correct horse").token
            #expect(try await authenticator.verify(token).grants.isEmpty)
            for (role, event) in [
                ("organizer", event), ("superAdmin", event), ("owner", nil), ("emperor", event), ("admin", nil),
            ] as [(String, ObjectId?)] {
                try await pool.query(
                    "INSERT INTO role_assignment (_id, \"user\", role, event) VALUES ($1, $2, $3, $4)",
                    [.bytea(ObjectId.generate().bytes), .bytea(user.bytes), .text(role), .bytea(event?.bytes)])
            }
            authenticator.forgetRoles()
            let grants = try await authenticator.verify(token).grants
            #expect(grants == [RoleGrant(Role("organizer"), in: event), RoleGrant(Role("admin"))])
        }
    }

    @Test func aTokenOfAUserInTheTrashOrGoneIsUnknown() async throws {
        try await withAuthenticator { authenticator, pool in
            for (email, sql) in [
                ("ann@example.org", "UPDATE users SET trashed_at = now() WHERE email = 'ann@example.org'"),
                ("bob@example.org", "DELETE FROM users WHERE email = 'bob@example.org'"),
            ] {
                try await authenticator.register(email: email, password: "correct horse", displayName: "A")
                let token = try await authenticator.login(email: email, password: "correct horse").token
                _ = try await authenticator.verify(token)
                try await pool.execute(sql)
                authenticator.forgetRoles()
                await #expect(throws: AuthenticationError.unknownUser) { try await authenticator.verify(token) }
                await #expect(throws: AuthenticationError.wrongCredentials) {
                    try await authenticator.login(email: email, password: "correct horse")
                }
            }
        }
    }

    @Test func aPasswordCanBeSetForAnImportedUser() async throws {
        try await withAuthenticator { authenticator, pool in
            try await pool.query(
                "INSERT INTO users (_id, email, display_name) VALUES ($1, 'imported@example.org', 'Imported')",
                [.bytea(ObjectId(high: 4, low: 4).bytes)])
            let accounts = AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests))
            try await accounts.setPassword("correct horse", email: "imported@example.org")
            try await accounts.setPassword("battery staple", email: " Imported@example.org")
            _ = try await authenticator.login(email: "imported@example.org", password: "battery staple")
            await #expect(throws: AuthenticationError.wrongCredentials) {
                try await authenticator.login(email: "imported@example.org", password: "correct horse")
            }
            await #expect(throws: AuthenticationError.unknownUser) {
                try await accounts.setPassword("correct horse", email: "nobody@example.org")
            }
        }
    }

    @Test("a password change and a revocation end the tokens from before, on every server")
    func tokensDoNotOutliveAPasswordChange() async throws {
        try await withAuthenticator { authenticator, pool in
            let accounts = AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests))
            let other = await Authenticator(
                pool: pool, tokens: tokens, hasher: PasswordHasher(parameters: .weakForTests))
            try await authenticator.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let first = try await authenticator.login(email: "ann@example.org", password: "correct horse").token
            _ = try await other.verify(first)
            try await accounts.setPassword("battery staple", email: "ann@example.org")
            // The other server remembers the account for a moment, and takes a newer token all the same.
            let second = try await authenticator.login(email: "ann@example.org", password: "battery staple").token
            _ = try await other.verify(second)
            for server in [authenticator, other] {
                server.forgetRoles()
                await #expect(throws: AuthenticationError.revokedToken) { try await server.verify(first) }
            }
            try await accounts.revokeTokens(email: "ANN@example.org ")
            for server in [authenticator, other] {
                server.forgetRoles()
                await #expect(throws: AuthenticationError.revokedToken) { try await server.verify(second) }
            }
            let third = try await other.login(email: "ann@example.org", password: "battery staple").token
            _ = try await authenticator.verify(third)
            await #expect(throws: AuthenticationError.unknownUser) {
                try await accounts.revokeTokens(email: "nobody@example.org")
            }
        }
    }

    @Test("a login whose password was changed while it was checked gets a token that is revoked")
    func aLoginBesideAPasswordChangeGivesNoGoodToken() async throws {
        try await withAuthenticator { authenticator, pool in
            try await authenticator.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let account = try #require(try await Accounts.account(email: "ann@example.org", pool))
            try await AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests))
                .setPassword("battery staple", email: "ann@example.org")
            // What the login goes on with: the generation that it read together with the hash.
            let late = try await TokenSigner(tokens).sign(account.userID, generation: account.generation, now: Date())
            await #expect(throws: AuthenticationError.revokedToken) { try await authenticator.verify(late.token) }
        }
    }

    @Test("a user's row says whether they are a super administrator, whatever writes the assignments")
    func superAdministratorsAreMarked() async throws {
        try await withAuthenticator { authenticator, pool in
            let user = try await authenticator.register(
                email: "ann@example.org", password: "correct horse", displayName: "Ann")
            func isMarked() async throws -> Bool { try await pool.query("SELECT is_super_admin FROM users")[0, 0].bool }
            func assignment(_ number: UInt32, _ role: String) async throws {
                try await pool.query(
                    #"INSERT INTO role_assignment (_id, "user", role) VALUES ($1, $2, $3)"#,
                    [.bytea(ObjectId(high: 1, low: number).bytes), .bytea(user.bytes), .text(role)])
            }
            try await pool.execute("UPDATE users SET is_super_admin = true")
            #expect(try await !isMarked())
            try await assignment(1, "admin")
            #expect(try await !isMarked())
            try await pool.execute("UPDATE role_assignment SET role = 'superAdmin'")
            #expect(try await isMarked())
            try await assignment(2, "superAdmin")
            try await pool.execute("UPDATE users SET is_super_admin = false")
            #expect(try await isMarked())
            try await pool.query(
                "DELETE FROM role_assignment WHERE _id = $1", [.bytea(ObjectId(high: 1, low: 1).bytes)])
            #expect(try await isMarked())
            try await pool.execute(#"UPDATE role_assignment SET "user" = NULL"#)
            #expect(try await !isMarked())
        }
    }

    @Test func aServicesRoleCannotReadHashes() async throws {
        try await withAuthenticator { authenticator, pool in
            try await authenticator.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let role = "service_\(UInt32.random(in: .min ... .max))"
            try await pool.execute("CREATE ROLE \(role); GRANT ALL ON ALL TABLES IN SCHEMA public TO \(role)")
            try await pool.withConnection { connection in
                try await connection.execute("SET ROLE \(role)")
                let seen = try await connection.query("SELECT count(*) FROM users")
                #expect(try seen[0, 0].int == 1)
                await #expect {
                    try await connection.query("SELECT key FROM tombolo.credential")
                } throws: { error in
                    (error as? PostgresError)?.code == .insufficientPrivilege
                }
                try await connection.execute("RESET ROLE")
            }
        }
    }
}
