import Foundation
import PostgresClient
import Synchronization
import Testing
import TomboloModel

@testable import TomboloAuthentication

@Suite struct ProviderTests {
    @Test("nobody can log in with a provider until it is enabled, and servers follow")
    func providersAreOff() async throws {
        try await AccountPlace.with { place in
            let server = place.authenticator
            for credentials in [
                LoginCredentials.anonymous, .apiKey("tombolo_k_x"), .function(payload: "{}"),
                .token(provider: "custom-token", token: "x"), .token(provider: "oauth2-apple", token: "x"),
                .token(provider: "local-userpass", token: "x"), .token(provider: "nonsense", token: "x"),
            ] {
                await #expect(throws: AuthenticationError.noSuchProvider) { try await server.login(credentials) }
            }
            await #expect(throws: AuthenticationError.noSuchProvider) {
                _ = try await server.requestRegistration(
                    email: "new@example.org", password: AccountPlace.password, name: nil)
            }
            try await place.providers.setEnabled(true, "anon-user")
            await server.providers.forget()
            _ = try await server.login(.anonymous)
            try await place.providers.setEnabled(false, "anon-user")
            await server.providers.forget()
            await #expect(throws: AuthenticationError.noSuchProvider) { try await server.login(.anonymous) }
            // That holds for email and password too.
            try await place.register()
            try await place.providers.setEnabled(false, "local-userpass")
            await server.providers.forget()
            await #expect(throws: AuthenticationError.noSuchProvider) { try await place.login() }
        }
    }

    @Test("unusable settings are refused with the member's name")
    func settingsAreChecked() async throws {
        try await AccountPlace.with { place in
            for (name, json, expected) in [
                ("anon-user", #"{"x": 1}"#, "'x'"), ("local-userpass", "[]", "JSON object"),
                ("local-userpass", #"{"registraton": true}"#, "Did you mean 'registration'?"),
                ("local-userpass", #"{"confirmation": "never"}"#, "'confirmation'"),
                ("custom-token", "{}", "'jwksURL' is missing"),
                ("custom-token", Self.issuer(url: "http://example.org/keys"), "https://"),
                ("custom-token", Self.issuer(url: "file:///etc/passwd"), "https://"),
                ("custom-token", Self.issuer(algorithms: #"["HS256"]"#), "HS256"),
                ("custom-token", Self.issuer(algorithms: #"["none"]"#), "none"),
                ("custom-token", Self.issuer(algorithms: "[]"), "'algorithms'"),
                ("custom-token", Self.issuer(audiences: "[]"), "'audiences'"),
                ("oauth2-apple", "{}", "'audiences' is missing"),
                ("custom-function", #"{"url": "https://example.org", "timeoutSeconds": 1000}"#, "timeoutSeconds"),
                ("custom-function", #"{"url": "gopher://example.org"}"#, "https://"),
            ] {
                let error = await #expect(throws: AuthenticationError.self, "\(json)") {
                    try await place.providers.set(json, of: name)
                }
                #expect(error?.description.contains(expected) == true, "\(error?.description ?? "")")
            }
            await #expect(throws: AuthenticationError.noSuchProvider) {
                try await place.providers.setEnabled(true, "custom token")
            }
            await #expect(throws: AuthenticationError.self) {
                try await place.providers.setEnabled(true, "custom-token")
            }
            try await place.providers.set(#"{"audiences": ["org.example.app"]}"#, of: "oauth2-apple")
            try await place.providers.setEnabled(true, "oauth2-apple")
            try await place.providers.set(
                #"{"url": "https://example.org/f", "secret": "hunter2"}"#, of: "custom-function")
            let listed = try await place.providers.list()
            #expect(listed.map(\.name) == ["custom-function", "local-userpass", "oauth2-apple"])
            #expect(listed.last?.settings.contains("https://appleid.apple.com/auth/keys") == true)
            #expect(!listed.contains { $0.settings.contains("hunter2") })
        }
    }

    private static func issuer(
        url: String = "https://example.org/keys", algorithms: String = #"["RS256"]"#, audiences: String = #"["app"]"#
    ) -> String {
        #"{"jwksURL": "\#(url)", "issuers": ["i"], "audiences": \#(audiences), "algorithms": \#(algorithms)}"#
    }

    @Test("an anonymous account gets an address: it keeps its id, and has two identities and both ways to log in")
    func linking() async throws {
        try await AccountPlace.with { place in
            try await place.switchOn("anon-user")
            try await place.switchOn("local-userpass", #"{"registration": true, "confirmation": "none"}"#)
            let server = place.authenticator
            let anonymous = try await server.login(.anonymous)
            #expect(try await server.details(of: anonymous.userID).identities.map(\.provider) == ["anon-user"])
            // As in Realm, the address is registered first, then linked.
            #expect(
                try await server.requestRegistration(
                    email: AccountPlace.email, password: AccountPlace.password, name: nil))
            let credentials = LoginCredentials.emailPassword(
                email: AccountPlace.email, password: AccountPlace.password)
            try await server.link(credentials, to: anonymous.userID)
            try await server.link(credentials, to: anonymous.userID)
            let details = try await server.details(of: anonymous.userID)
            #expect(details.identities.map(\.provider) == ["anon-user", "local-userpass"])
            #expect(details.email == AccountPlace.email)
            #expect(try await place.login().userID == anonymous.userID)
            // Linking works without registration too.
            let second = try await server.login(.anonymous)
            try await server.link(
                .emailPassword(email: "bob@example.org", password: "battery staple"), to: second.userID)
            #expect(
                try await server.login(email: "bob@example.org", password: "battery staple").userID == second.userID)
            // An identity in use can't be linked, nor a second address.
            let third = try await server.login(.anonymous)
            await #expect(throws: AuthenticationError.identityTaken) {
                try await server.link(credentials, to: third.userID)
            }
            await #expect(throws: AuthenticationError.wrongCredentials) {
                try await server.link(
                    .emailPassword(email: AccountPlace.email, password: "wrong password"), to: third.userID)
            }
            await #expect(throws: AuthenticationError.identityTaken) {
                try await server.link(
                    .emailPassword(email: "second@example.org", password: "battery staple"), to: second.userID)
            }
            for refused in [LoginCredentials.anonymous, .apiKey("tombolo_k_x")] {
                await #expect(throws: AuthenticationError.notLinkable) {
                    try await server.link(refused, to: third.userID)
                }
            }
        }
    }

    @Test("a registered account that has logged in can't be linked to another")
    func usedAccountsStay() async throws {
        try await AccountPlace.with { place in
            try await place.switchOn("anon-user")
            try await place.switchOn("local-userpass", #"{"registration": true, "confirmation": "none"}"#)
            _ = try await place.authenticator.requestRegistration(
                email: AccountPlace.email, password: AccountPlace.password, name: nil)
            let owner = try await place.login()
            let anonymous = try await place.authenticator.login(.anonymous)
            await #expect(throws: AuthenticationError.identityTaken) {
                try await place.authenticator.link(
                    .emailPassword(email: AccountPlace.email, password: AccountPlace.password), to: anonymous.userID)
            }
            _ = try await place.authenticator.verify(owner.token)
        }
    }

    @Test("an API key logs its user in until it is disabled or deleted, which ends the logins made with it")
    func apiKeys() async throws {
        try await AccountPlace.with { place in
            let ann = try await place.register()
            let bob = try await place.register("bob@example.org")
            let server = place.authenticator
            await #expect(throws: AuthenticationError.noSuchProvider) {
                try await server.makeAPIKey(named: "x", for: ann)
            }
            try await place.switchOn("api-key")
            let (key, text) = try await server.makeAPIKey(named: "build robot", for: ann)
            let login = try await server.login(.apiKey(text))
            #expect(login.userID == ann && login.provider == "api-key")
            let stored = try await place.pool.query("SELECT secret_hash FROM tombolo.api_key")[0, 0].bytes
            #expect(stored == APIKey.parts(text)?.secret.sha256)
            await #expect(throws: AuthenticationError.apiKeyNameTaken) {
                try await server.makeAPIKey(named: "build robot", for: ann)
            }
            await #expect(throws: AuthenticationError.noSuchAPIKey) { try await server.deleteAPIKey(key.id, of: bob) }
            for text in [
                "", "tombolo_k_", APIKey.text(key.id, .random(count: 32)), APIKey.text(.generate(), .random(count: 32)),
                text.dropLast() + "!", login.refreshToken,
            ] {
                await #expect(throws: AuthenticationError.wrongCredentials) { try await server.login(.apiKey(text)) }
            }
            try await server.disableAPIKey(key.id, of: ann)
            await #expect(throws: AuthenticationError.revokedToken) { try await server.verify(login.token) }
            await #expect(throws: AuthenticationError.endedSession) { try await server.refresh(login.refreshToken) }
            await #expect(throws: AuthenticationError.wrongCredentials) { try await server.login(.apiKey(text)) }
            #expect(try await server.apiKeys(of: ann).map(\.isDisabled) == [true])
            try await server.enableAPIKey(key.id, of: ann)
            let again = try await server.login(.apiKey(text))
            try await server.deleteAPIKey(key.id, of: ann)
            await #expect(throws: AuthenticationError.endedSession) { try await server.refresh(again.refreshToken) }
            for number in 0..<APIKey.maximumCountOfUser {
                _ = try await server.makeAPIKey(named: "\(number)", for: ann)
            }
            await #expect(throws: AuthenticationError.tooManyAPIKeys) {
                try await server.makeAPIKey(named: "x", for: ann)
            }
            let robot = try await AccountRegistry(pool: place.pool).makeServerKey(named: "robot")
            #expect(try await server.login(.apiKey(robot.text)).userID == robot.userID)
        }
    }

    @Test("a key that is disabled during a login ends this login too", arguments: [false, true])
    func keyDisabledDuringLogin(isDeleted: Bool) async throws {
        try await AccountPlace.with { place in
            let ann = try await place.register()
            let server = place.authenticator
            try await place.switchOn("api-key")
            let (key, text) = try await server.makeAPIKey(named: "build robot", for: ann)
            let holder = try await PostgresConnection.connect(place.pool.configuration)
            // Recording a login needs the account's row, checking a key doesn't.
            try await holder.execute("BEGIN")
            try await holder.query("SELECT 1 FROM tombolo.account WHERE id = $1 FOR UPDATE", [.bytea(ann.bytes)])
            let waiting = """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            async let login = server.login(.apiKey(text))
            while try await place.pool.query(waiting)[0, 0].int < 1 { await Task.yield() }
            let isOver = Atomic(false)
            async let change: Void = {
                defer { isOver.store(true, ordering: .sequentiallyConsistent) }
                if isDeleted {
                    try await server.deleteAPIKey(key.id, of: ann)
                } else {
                    try await server.disableAPIKey(key.id, of: ann)
                }
            }()
            while !isOver.load(ordering: .sequentiallyConsistent), try await place.pool.query(waiting)[0, 0].int < 2 {
                await Task.yield()
            }
            try await holder.execute("COMMIT")
            await holder.close()
            try await change
            let tokens = try? await login
            if let tokens {
                await #expect(throws: AuthenticationError.endedSession) {
                    try await server.refresh(tokens.refreshToken)
                }
            }
            #expect(try await server.sessions(of: ann).isEmpty)
        }
    }

    @Test("deleting an account ends its logins, keys and identities")
    func deletedAccounts() async throws {
        try await AccountPlace.with { place in
            try await place.switchOn("anon-user")
            try await place.switchOn("api-key")
            let server = place.authenticator
            let login = try await server.login(.anonymous)
            let key = try await server.makeAPIKey(named: "x", for: login.userID).text
            let logged = try await place.logged { try await server.deleteAccount(login.userID) }
            #expect(Set(logged) == [login.userID.stringValue])
            await #expect(throws: AuthenticationError.unknownUser) { try await server.verify(login.token) }
            await #expect(throws: AuthenticationError.endedSession) { try await server.refresh(login.refreshToken) }
            await #expect(throws: AuthenticationError.wrongCredentials) { try await server.login(.apiKey(key)) }
            await #expect(throws: AuthenticationError.unknownUser) { try await server.deleteAccount(login.userID) }
            for table in ["account", "identity", "api_key", "login_session", "refresh_token"] {
                #expect(try await place.pool.query("SELECT 1 FROM tombolo.\(table)").isEmpty)
            }
        }
    }

    @Test("strangers can't create unlimited accounts from one address")
    func newAccountsAreLimited() async throws {
        try await AccountPlace.with { place in
            try await place.switchOn("anon-user")
            let server = place.authenticator
            let limit = ActionLimiter.maximumOfAddress[.newAccount] ?? 0
            let window = Duration.seconds(ActionLimiter.windowSeconds(of: .newAccount))
            var begin = ContinuousClock.now
            var wasRefused = false
            var number = 0
            // Retry from another address if the first ones had expired when the last one came.
            repeat {
                begin = .now
                number += 1
                for _ in 0..<limit { try server.begin(.newAccount, address: "192.0.2.\(number)") }
                do {
                    _ = try await server.login(.anonymous, address: "192.0.2.\(number)")
                } catch AuthenticationError.tooManyAttempts {
                    wasRefused = true
                }
            } while !wasRefused && ContinuousClock.now - begin >= window
            #expect(wasRefused)
            _ = try await server.login(.anonymous, address: "198.51.100.1")
        }
    }

    @Test("once the cost of new hashes has grown, a successful login stores a stronger hash, and nothing else does")
    func costsGrow() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let cost = PasswordParameters(rounds: 32, blockSize: 8, parallelism: 1)
            let strong = await Authenticator(
                pool: place.pool, tokens: place.tokens, hasher: PasswordHasher(parameters: cost))
            func rounds() async throws -> Int64 {
                try await place.pool.query("SELECT rounds FROM tombolo.credential")[0, 0].int64
            }
            await #expect(throws: AuthenticationError.wrongCredentials) {
                try await strong.login(email: AccountPlace.email, password: "wrong password")
            }
            #expect(try await rounds() == 16)
            let login = try await strong.login(email: AccountPlace.email, password: AccountPlace.password)
            #expect(try await rounds() == 32)
            _ = try await strong.verify(login.token)
            _ = try await place.login()
            #expect(try await rounds() == 32)
        }
    }
}
