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
        let pool = PostgresPool(configuration: database, options: AccountPlace.poolOptions)
        try await pool.withConnection { connection in
            try await PostgresSchema.install(Self.schema, on: connection)
            try await connection.execute(AuthenticationSchema.sql)
            // Creating the tables again does no harm.
            try await connection.execute(AuthenticationSchema.sql)
        }
        let authenticator = await Authenticator(
            pool: pool, tokens: tokens, hasher: PasswordHasher(parameters: .weakForTests),
            grants: { Self.sources })
        try await body(authenticator, pool)
        await pool.shutdown()
    }

    /// An app with roles in three classes, one for each way to name users and scopes.
    private static let schema: Schema = {
        do { return try Schema.of([TeamMember.self, ShopClerk.self, Operator.self]) } catch { fatalError("\(error)") }
    }()

    private static let sources: [GrantSource] = {
        do {
            return [
                try GrantSource(schema, className: "TeamMember", user: "user", role: "role", scope: "team"),
                try GrantSource(schema, className: "ShopClerk", user: "userID", role: "duty", scope: "shop"),
                try GrantSource(schema, className: "Operator", user: "user", role: "role"),
            ]
        } catch {
            fatalError("\(error)")
        }
    }()

    /// The keys of the account entries that `body` adds to the changelog.
    private func logged(_ pool: PostgresPool, _ body: () async throws -> Void) async throws -> [String] {
        let before = try await pool.query("SELECT coalesce(max(seq), 0) FROM tombolo.changelog")[0, 0].int64
        try await body()
        return try await pool.query(
            """
            SELECT key FROM tombolo.changelog WHERE seq > $1 AND class = \(AuthenticationSchema.changelogClass)
                AND operation = 'u' AND client IS NULL ORDER BY seq
            """, [.int64(before)]
        ).map { try $0[0].string }
    }

    private func imported(_ pool: PostgresPool) async throws {
        try await pool.query(
            "INSERT INTO tombolo.account (id, email, display_name) VALUES ($1, 'imported@example.org', 'Imported')",
            [.bytea(ObjectId(high: 4, low: 4).bytes)])
    }

    @Test func aRegisteredUserCanLogIn() async throws {
        try await withAuthenticator { authenticator, _ in
            let user = try await authenticator.register(
                email: " Ann@Example.org ", password: "correct horse", displayName: "Ann")
            let token = try await authenticator.login(email: "ann@example.ORG", password: "correct horse")
            #expect(token.userID == user)
            let subject = try await authenticator.verify(token.token)
            #expect(
                subject
                    == Subject(
                        user: user,
                        data: ["name": .string("Ann"), "email": .string("ann@example.org"), "isVerified": .bool(false)])
            )
        }
    }

    @Test func aWrongPasswordAndAnUnknownUserLookAlike() async throws {
        try await withAuthenticator { authenticator, pool in
            try await authenticator.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            try await imported(pool)
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
            func isRefused() async throws -> Bool {
                do {
                    _ = try await authenticator.login(
                        email: "ann@example.org", password: "correct horse", address: "192.0.2.1")
                    return false
                } catch AuthenticationError.tooManyAttempts {
                    return true
                }
            }
            let window = Duration.seconds(Authenticator.failedLoginWindowSeconds)
            var begin = ContinuousClock.now
            var wasRefused = false
            // Retry if the failures had expired when the right password came.
            repeat {
                begin = .now
                for _ in 0..<Authenticator.maximumFailedLogins {
                    _ = try? await authenticator.login(email: "ann@example.org", password: "no", address: "192.0.2.1")
                }
                wasRefused = try await isRefused()
            } while !wasRefused && ContinuousClock.now - begin >= window
            #expect(wasRefused)
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
            #expect(try await pool.query("SELECT count(*) FROM tombolo.account")[0, 0].int == 1)
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
            let users = try await pool.query("SELECT count(*) FROM tombolo.account")
            #expect(try users[0, 0].int == 0)
        }
    }

    @Test(
        "roles come from every grant source, with scopes of each type; trashed rows and rows without a role grant none")
    func rolesComeFromTheDatabase() async throws {
        try await withAuthenticator { authenticator, pool in
            let user = try await authenticator.register(
                email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let token = try await authenticator.login(email: "ann@example.org", password: "correct horse").token
            #expect(try await authenticator.verify(token).grants.isEmpty)
            let team = ObjectId(high: 7, low: 7)
            for (number, (role, team, isTrashed)) in [
                ("captain", team, false), ("goalie", nil, false), ("coach", team, true), (nil, team, false),
            ].enumerated() as EnumeratedSequence<[(String?, ObjectId?, Bool)]> {
                try await pool.query(
                    """
                    INSERT INTO team_member (_id, "user", role, team, trashed_at)
                    VALUES ($1, $2, $3, $4, CASE WHEN $5 THEN now() END)
                    """,
                    [.int64(Int64(number)), .bytea(user.bytes), .text(role), .bytea(team?.bytes), .bool(isTrashed)])
            }
            try await pool.query(
                "INSERT INTO shop_clerk (_id, user_id, duty, shop) VALUES (1, $1, 'cashier', 12), (2, 'x', 'boss', 13)",
                [.text(user.stringValue)])
            try await pool.query(
                #"INSERT INTO operator (_id, "user", role) VALUES (1, $1, 'superuser')"#, [.bytea(user.bytes)])
            authenticator.forget(user)
            let grants = try await authenticator.verify(token).grants
            #expect(grants.contains(RoleGrant(Role("captain"), in: team)))
            #expect(grants.contains(RoleGrant(Role("goalie"))))
            #expect(grants.contains(RoleGrant(Role("superuser"))))
            let known = try #require(try await Accounts.known([user], grants: Self.sources, pool)[user]?.get())
            #expect(
                known.subject.grants == [
                    RoleGrant(Role("captain"), in: team), RoleGrant(Role("goalie")),
                    RoleGrant(role: Role("cashier"), scope: .int(12)), RoleGrant(Role("superuser")),
                ])
        }
    }

    @Test("a bad grant source's error says which class, property or type doesn't fit, with the nearest name")
    func badGrantSourcesAreExplained() throws {
        for (className, user, role, scope, expected) in [
            ("TeamMembr", "user", "role", nil, "no class 'TeamMembr' to take roles from. Did you mean 'TeamMember'?"),
            ("TeamMember", "usr", "role", nil, "TeamMember has no property 'usr' for the user. Did you mean 'user'?"),
            ("ShopClerk", "shop", "duty", nil, "ShopClerk.shop is of type int, which can't be the user."),
            ("ShopClerk", "userID", "shop", nil, "ShopClerk.shop is of type int, which can't be the role."),
            ("ShopClerk", "userID", "duty", "since", "ShopClerk.since is of type date, which can't be the scope."),
        ] as [(String, String, String, String?, String)] {
            let error = #expect(throws: ValueError.self) {
                try GrantSource(Self.schema, className: className, user: user, role: role, scope: scope)
            }
            #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
        }
    }

    @Test("the token of a disabled or deleted account is unknown")
    func tokensOfLostAccountsAreUnknown() async throws {
        try await withAuthenticator { authenticator, pool in
            let accounts = AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests))
            var former: String?
            for email in ["ann@example.org", "bob@example.org"] {
                let user = try await authenticator.register(email: email, password: "correct horse", displayName: "A")
                let token = try await authenticator.login(email: email, password: "correct horse").token
                former = former ?? token
                _ = try await authenticator.verify(token)
                let changes = try await logged(pool) {
                    if email.hasPrefix("ann") {
                        try await accounts.setEnabled(false, email: " Ann@example.org")
                    } else {
                        try await pool.query("DELETE FROM tombolo.account WHERE id = $1", [.bytea(user.bytes)])
                    }
                }
                #expect(Set(changes) == [user.stringValue])
                authenticator.forgetRoles()
                await #expect(throws: AuthenticationError.unknownUser) { try await authenticator.verify(token) }
                await #expect(throws: AuthenticationError.wrongCredentials) {
                    try await authenticator.login(email: email, password: "correct horse")
                }
            }
            try await accounts.setEnabled(true, email: "ann@example.org")
            authenticator.forgetRoles()
            await #expect(throws: AuthenticationError.self, "Disabling logs out for good.") {
                try await authenticator.verify(try #require(former))
            }
            let token = try await authenticator.login(email: "ann@example.org", password: "correct horse").token
            _ = try await authenticator.verify(token)
            await #expect(throws: AuthenticationError.unknownUser) {
                try await accounts.setEnabled(true, email: "bob@example.org")
            }
        }
    }

    @Test("custom data is a JSON object of bounded size; anything else is refused with a reason")
    func customDataIsAnObject() async throws {
        try await withAuthenticator { authenticator, pool in
            let user = try await authenticator.register(
                email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let accounts = AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests))
            #expect(
                try await accounts.setCustomData(#"{"team": "blue", "level": 3}"#, email: "ANN@example.org") == user)
            func customData() async throws -> [String: UserValue]? {
                try await Accounts.known([user], grants: [], pool)[user]?.get().subject.customData
            }
            let kept = try await customData()
            #expect(kept == ["team": .string("blue"), "level": .int(3)])
            // PostgreSQL prints a space after each comma.
            let spread = #"{"a":[\#(Array(repeating: "1", count: 7_000).joined(separator: ","))]}"#
            for (json, reason) in [
                ("", "json"), ("{", "json"), ("[]", "must be a JSON object"), ("null", "must be a JSON object"),
                ("\"x\"", "must be a JSON object"), (#"{"a": "\u0000"}"#, "nicode"), ("{\u{0}}", "U+0000"),
                (#"{"a": "\#(String(repeating: "x", count: 20_000))"}"#, "bytes"), (spread, "at most 16384 bytes"),
                (String(repeating: "[", count: 16_000), "cannot be used"),
                (#"{"oid": 1e400}"#, "a number that doesn't fit in a Double"),
                ("{\"a\": {\"é\": 1, \"e\u{301}\": 2}}", "two keys of one object look the same"),
                (
                    #"{"a": \#(String(repeating: "[", count: 20))\#(String(repeating: "]", count: 20))}"#,
                    "nests deeper than 16 levels"
                ),
            ] {
                let error = await #expect(throws: AuthenticationError.self) {
                    try await accounts.setCustomData(json, email: "ann@example.org")
                }
                #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
            }
            #expect(try await customData() == kept)
            await #expect(throws: AuthenticationError.unknownUser) {
                try await accounts.setCustomData("{}", email: "nobody@example.org")
            }
        }
    }

    @Test("every change to an account is in the changelog under its id, and nothing else is")
    func changesOfAccountsAreLogged() async throws {
        try await withAuthenticator { authenticator, pool in
            let accounts = AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests))
            let made = try await logged(pool) {
                try await authenticator.register(
                    email: "bob@example.org", password: "correct horse", displayName: "Bob")
            }
            #expect(made.isEmpty)
            let user = try await authenticator.register(
                email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let changes: [(String, () async throws -> Void)] = [
                ("custom data", { try await accounts.setCustomData(#"{"a": 1}"#, email: "ann@example.org") }),
                ("password", { try await accounts.setPassword("battery staple", email: "ann@example.org") }),
                ("revocation", { try await accounts.revokeTokens(email: "ann@example.org") }),
                ("disabling", { try await accounts.setEnabled(false, email: "ann@example.org") }),
                (
                    "plain SQL",
                    { try await pool.execute("UPDATE tombolo.account SET display_name = 'A' WHERE email LIKE 'ann%'") }
                ), ("generation", { try await pool.execute("DELETE FROM tombolo.token_generation") }),
            ]
            for (name, change) in changes {
                let keys = try await logged(pool, change)
                // A new password also ends logins, which are rows of their own.
                #expect(Set(keys) == [user.stringValue], "\(name)")
            }
            let unchanged = try await logged(pool) {
                try await accounts.setCustomData(#"{"a":1}"#, email: "ann@example.org")
                try await accounts.setEnabled(false, email: "ann@example.org")
            }
            #expect(unchanged.isEmpty)
        }
    }

    @Test func aPasswordCanBeSetForAnImportedUser() async throws {
        try await withAuthenticator { authenticator, pool in
            try await imported(pool)
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

    @Test("a password change or revocation ends the tokens issued before it, on every server")
    func tokensDoNotOutliveAPasswordChange() async throws {
        try await withAuthenticator { authenticator, pool in
            let accounts = AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests))
            let other = await Authenticator(
                pool: pool, tokens: tokens, hasher: PasswordHasher(parameters: .weakForTests))
            try await authenticator.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let first = try await authenticator.login(email: "ann@example.org", password: "correct horse").token
            _ = try await other.verify(first)
            try await accounts.setPassword("battery staple", email: "ann@example.org")
            // The other server caches the account for a moment, but accepts a newer token anyway.
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

    @Test("a login whose password changes while it is being checked gets a revoked token")
    func aLoginBesideAPasswordChangeGivesNoGoodToken() async throws {
        try await withAuthenticator { authenticator, pool in
            try await authenticator.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let account = try #require(try await Accounts.account(email: "ann@example.org", pool))
            try await AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests))
                .setPassword("battery staple", email: "ann@example.org")
            // The login continues with the generation that it read together with the hash.
            let late = try await authenticator.begin(
                account.userID, generation: account.generation, provider: Provider.emailPassword,
                device: LoginDevice(), now: Date())
            await #expect(throws: AuthenticationError.revokedToken) { try await authenticator.verify(late.token) }
            await #expect(throws: AuthenticationError.endedSession) {
                try await authenticator.refresh(late.refreshToken)
            }
        }
    }

    @Test("a service's role can't read password hashes, nor accounts without a grant")
    func aServicesRoleCannotReadHashes() async throws {
        try await withAuthenticator { authenticator, pool in
            try await authenticator.register(email: "ann@example.org", password: "correct horse", displayName: "Ann")
            let role = "service_\(UInt32.random(in: .min ... .max))"
            try await pool.execute("CREATE ROLE \(role); GRANT ALL ON ALL TABLES IN SCHEMA public TO \(role)")
            try await pool.withConnection { connection in
                try await connection.execute("SET ROLE \(role)")
                for table in AuthenticationSchema.tables.sorted() {
                    await #expect {
                        try await connection.query("SELECT * FROM tombolo.\(table)")
                    } throws: { error in
                        (error as? PostgresError)?.code == .insufficientPrivilege
                    }
                }
                await #expect(throws: PostgresError.self) { try await connection.query("SELECT tombolo.log_account()") }
                try await connection.execute("RESET ROLE")
            }
        }
    }
}
