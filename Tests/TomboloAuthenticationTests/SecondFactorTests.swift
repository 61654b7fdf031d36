import Foundation
import PostgresClient
import Testing
import TomboloModel
import TomboloRules

@testable import TomboloAuthentication

/// Second factors on a server that requires them; `SecondFactorPagesTests` covers the pages.
@Suite struct SecondFactorTests {
    private struct Place: Sendable {
        let accounts: AccountPlace
        let authenticator: Authenticator
        let userID: ObjectId
        let session: PanelSession
        let token: PanelToken
        let secret: TimeCode
        let recoveryCodes: [String]
        /// The time of all requests, so that no test crosses the boundary of a time step.
        let now: Date

        func code(_ offset: Int64 = 0) -> String {
            secret.code(step: TimeCode.step(at: now.microseconds / 1_000_000) + offset)
        }

        func begin() async throws -> (token: PanelToken, session: PanelSession) {
            let token = try await authenticator.beginPanel(
                email: AccountPlace.email, password: AccountPlace.password, address: "192.0.2.1", device: LoginDevice(),
                now: now)
            return (token, try await authenticator.panelSession(token, now: now))
        }

        @discardableResult
        func give(_ code: String, _ entry: (token: PanelToken, session: PanelSession)) async throws -> PanelToken {
            try await authenticator.giveCode(
                entry.session, entry.token, code: code, address: "192.0.2.1", now: now)
        }

        /// Ann with a second factor, which she has just confirmed with the code of the previous step.
        static func with(
            _ policy: SecondFactorPolicy = .optional, _ body: (Place) async throws -> Void
        ) async throws {
            try await AccountPlace.with { accounts in
                let authenticator = await Authenticator(
                    pool: accounts.pool, tokens: accounts.tokens, hasher: PasswordHasher(parameters: .weakForTests),
                    secondFactor: policy)
                let userID = try await accounts.register()
                let now = Date()
                let token = try await authenticator.beginPanel(
                    email: AccountPlace.email, password: AccountPlace.password, address: "", device: LoginDevice(),
                    now: now)
                let session = try await authenticator.panelSession(token, now: now)
                try await authenticator.beginSecondFactor(of: userID)
                let sealed = try await accounts.pool.query("SELECT pending FROM tombolo.second_factor")[0, 0].bytes
                let opened = SealedKey.open(
                    sealed, id: userID.stringValue, purpose: SealedKey.secondFactor, secret: accounts.tokens.secret)
                let secret = TimeCode(secret: Array(try #require(opened.flatMap { Data(base64Encoded: $0) })))
                let step = TimeCode.step(at: now.microseconds / 1_000_000)
                let (codes, renewed) = try await authenticator.confirmSecondFactor(
                    session, token, code: secret.code(step: step - 1), address: "", now: now)
                await #expect(throws: AuthenticationError.endedSession, "The old cookie should no longer work.") {
                    try await authenticator.panelSession(token, now: now)
                }
                try await body(
                    Place(
                        accounts: accounts, authenticator: authenticator, userID: userID, session: session,
                        token: renewed, secret: secret, recoveryCodes: codes, now: now))
            }
        }
    }

    @Test("a login is completed by a code, which works once, and no earlier code works after it")
    func codes() async throws {
        try await Place.with { place in
            let first = try await place.begin()
            #expect(first.session.hasSecondFactor && !first.session.isComplete)
            let token = try await place.give(place.code(), first)
            #expect(try await place.authenticator.panelSession(token, now: place.now).isComplete)
            let second = try await place.begin()
            for code in [place.code(), place.code(-1), place.code(2), "abc"] {
                await #expect(throws: AuthenticationError.wrongCode) { try await place.give(code, second) }
            }
            try await place.give(place.code(1), second)
            // The session that confirmed the factor stays valid.
            #expect(try await place.authenticator.panelSession(place.token, now: place.now).isComplete)
        }
    }

    @Test("the code gives the session a new cookie, and the old one stops working")
    func renewing() async throws {
        try await Place.with { place in
            let entry = try await place.begin()
            await #expect(throws: AuthenticationError.wrongCode) { try await place.give("000000x", entry) }
            #expect(try await place.authenticator.panelSession(entry.token, now: place.now).id == entry.session.id)
            let token = try await place.give(place.code(), entry)
            #expect(token.text != entry.token.text && !token.accepts(formToken: entry.token.formToken))
            let session = try await place.authenticator.panelSession(token, now: place.now)
            #expect(session.id == entry.session.id && session.isComplete && session.provedAt == entry.session.provedAt)
            await #expect(throws: AuthenticationError.endedSession) {
                try await place.authenticator.panelSession(entry.token, now: place.now)
            }
            // Another code doesn't make the old cookie work again either.
            await #expect(throws: AuthenticationError.endedSession) {
                try await place.give(place.recoveryCodes[0], entry)
            }
        }
    }

    @Test("of several requests with the same code only one gets in")
    func race() async throws {
        try await Place.with { place in
            let entry = try await place.begin()
            let code = place.code()
            let passed = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 { group.addTask { (try? await place.give(code, entry)) != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(passed == 1)
        }
    }

    @Test("a recovery code works once, and the database contains only its hash")
    func recovery() async throws {
        try await Place.with { place in
            #expect(place.recoveryCodes.count == SecondFactor.recoveryCodeCount)
            let first = try await place.begin()
            let token = try await place.give(place.recoveryCodes[3].uppercased().replacing("-", with: " "), first)
            #expect(try await place.authenticator.panelSession(token, now: place.now).isComplete)
            let second = try await place.begin()
            await #expect(throws: AuthenticationError.wrongCode) {
                try await place.give(place.recoveryCodes[3], second)
            }
            #expect(try await place.authenticator.secondFactor(of: place.userID).recoveryCodesLeft == 9)
            let renewed = try await place.authenticator.renewRecoveryCodes(of: place.userID)
            await #expect(throws: AuthenticationError.wrongCode) {
                try await place.give(place.recoveryCodes[4], second)
            }
            try await place.give(renewed[0], second)
            let rows = try await place.accounts.pool.query("SELECT r::text FROM tombolo.recovery_code r")
            for row in rows { for code in renewed { #expect(!(try row[0].string).contains(code)) } }
        }
    }

    @Test("wrong codes make further ones wait, from any address, even the right one")
    func limits() async throws {
        try await Place.with { place in
            let (token, session) = try await place.begin()
            var errors: [AuthenticationError] = []
            for number in 0..<(3 * SecondFactor.maximumFailures) {
                do {
                    _ = try await place.authenticator.giveCode(
                        session, token, code: "no", address: "192.0.2.\(number)", now: place.now)
                } catch let error as AuthenticationError {
                    errors.append(error)
                }
            }
            #expect(errors.count == 3 * SecondFactor.maximumFailures)
            #expect(errors.prefix(SecondFactor.maximumFailures).allSatisfy { $0 == .wrongCode })
            let waits = errors.compactMap { error -> Int? in
                if case .tooManyAttempts(let seconds) = error { seconds } else { nil }
            }
            #expect(!waits.isEmpty && waits.allSatisfy { $0 >= 1 }, "\(errors)")
            // This holds at another server too. The delay is long enough that it can't end before the right code comes.
            let other = await Authenticator(
                pool: place.accounts.pool, tokens: place.accounts.tokens,
                hasher: PasswordHasher(parameters: .weakForTests), secondFactor: .optional)
            try await place.accounts.delayCodes()
            await #expect {
                _ = try await other.giveCode(session, token, code: place.code(), address: "", now: place.now)
            } throws: { error in
                if case .tooManyAttempts = error as? AuthenticationError { true } else { false }
            }
        }
    }

    @Test("confirming the password again requires a code too")
    func provingAgain() async throws {
        try await Place.with { place in
            let session = try await place.authenticator.panelSession(place.token, now: place.now)
            for code in [nil, "000000x"] as [String?] {
                await #expect(throws: AuthenticationError.wrongCode) {
                    try await place.authenticator.proveAgain(
                        session, place.token, password: AccountPlace.password, code: code, address: "", now: place.now)
                }
            }
            await #expect(throws: AuthenticationError.wrongCredentials) {
                try await place.authenticator.proveAgain(
                    session, place.token, password: "wrong", code: place.code(), address: "", now: place.now)
            }
            let renewed = try await place.authenticator.proveAgain(
                session, place.token, password: AccountPlace.password, code: place.code(), address: "", now: place.now)
            #expect(try await place.authenticator.panelSession(renewed, now: place.now).id == session.id)
            await #expect(throws: AuthenticationError.endedSession, "The old cookie should no longer work.") {
                try await place.authenticator.panelSession(place.token, now: place.now)
            }
            // Confirming again, such as in a second window at the same time, doesn't make the old cookie work again
            // either.
            await #expect(throws: AuthenticationError.endedSession) {
                try await place.authenticator.proveAgain(
                    session, place.token, password: AccountPlace.password, code: place.code(1), address: "",
                    now: place.now)
            }
            #expect(try await place.authenticator.goesOn(session, now: place.now))
        }
    }

    @Test("a server that requires a second factor only accepts tokens whose login used it")
    func tokens() async throws {
        try await Place.with { place in
            func token(_ code: String?) async throws -> String {
                try await place.authenticator.login(
                    .emailPassword(email: AccountPlace.email, password: AccountPlace.password), code: code,
                    now: place.now
                ).token
            }
            let without = try await token(nil)
            await #expect(throws: AuthenticationError.secondFactorRequired) {
                try await place.authenticator.verify(without, now: place.now)
            }
            // The server that devices use accepts the token.
            _ = try await place.accounts.authenticator.verify(without, now: place.now)
            await #expect(throws: AuthenticationError.wrongCode) { try await token("123") }
            let with = try await token(place.code())
            _ = try await place.authenticator.verify(with, now: place.now)

            // An API key of the account doesn't bypass the requirement.
            try await place.accounts.switchOn(Provider.apiKey)
            let key = try await place.accounts.authenticator.makeAPIKey(
                named: "program", for: place.userID, code: place.recoveryCodes[0]
            ).text
            await place.authenticator.providers.forget()
            let byKey = try await place.authenticator.login(.apiKey(key), now: place.now).token
            await #expect(throws: AuthenticationError.secondFactorRequired) {
                try await place.authenticator.verify(byKey, now: place.now)
            }
        }
    }

    @Test("changing a password requires a code, even on servers whose logins don't")
    func changingThePassword() async throws {
        try await Place.with { place in
            // This server is a gateway.
            let server = place.accounts.authenticator
            let login = try await server.login(
                email: AccountPlace.email, password: AccountPlace.password, now: place.now)
            let caller = Caller(userID: login.userID, sessionID: login.sessionID)
            func change(from current: String = AccountPlace.password, _ code: String?) async throws -> Login {
                try await server.changePassword(
                    of: caller, from: current, to: "battery staple", code: code, now: place.now)
            }
            await #expect(throws: AuthenticationError.codeRequired) { try await change(nil) }
            for code in ["", "000000x", place.code(2)] {
                await #expect(throws: AuthenticationError.wrongCode) { try await change(code) }
            }
            // A wrong password doesn't use up the code.
            await #expect(throws: AuthenticationError.wrongCredentials) {
                try await change(from: "wrong password", place.code())
            }
            _ = try await place.accounts.login()
            _ = try await change(place.code())
            _ = try await server.login(email: AccountPlace.email, password: "battery staple", now: place.now)
        }
    }

    @Test("a code that was used once can't create a key, link, or delete the account")
    func codesOnce() async throws {
        try await Place.with { place in
            // This server is a gateway.
            let server = place.accounts.authenticator
            for provider in [Provider.apiKey, Provider.emailPassword] { try await place.accounts.switchOn(provider) }
            let credentials = LoginCredentials.emailPassword(email: AccountPlace.email, password: AccountPlace.password)
            let code = place.code()
            _ = try await server.makeAPIKey(named: "program", for: place.userID, code: code, now: place.now)
            await #expect(throws: AuthenticationError.wrongCode) {
                try await server.makeAPIKey(named: "another", for: place.userID, code: code, now: place.now)
            }
            await #expect(throws: AuthenticationError.wrongCode) {
                try await server.link(credentials, to: place.userID, code: code, now: place.now)
            }
            await #expect(throws: AuthenticationError.wrongCode) {
                try await server.deleteAccount(place.userID, code: code, now: place.now)
            }
            // An invalid key name doesn't use up the code.
            let next = place.code(1)
            await #expect(throws: AuthenticationError.invalidDisplayName(reason: "it is empty.")) {
                try await server.makeAPIKey(named: " ", for: place.userID, code: next, now: place.now)
            }
            try await server.deleteAccount(place.userID, code: next, now: place.now)
            await #expect(throws: AuthenticationError.unknownUser) { try await server.details(of: place.userID) }
        }
    }

    @Test("if the policy requires a second factor of everybody, a user without one must set one up")
    func policy() async throws {
        try await Place.with(.everybody) { place in
            try await AccountRegistry(pool: place.accounts.pool).removeSecondFactor(email: AccountPlace.email)
            place.authenticator.forgetRoles()
            let (_, session) = try await place.begin()
            #expect(session.isComplete && session.mustSetUp)
            let token = try await place.authenticator.login(
                email: AccountPlace.email, password: AccountPlace.password, now: place.now
            ).token
            await #expect(throws: AuthenticationError.secondFactorRequired) {
                try await place.authenticator.verify(token, now: place.now)
            }
        }
        let (everywhere, within) = (
            RoleGrant(role: Role("admin"), scope: nil), RoleGrant(role: Role("owner"), scope: .objectId(.generate()))
        )
        func subject(_ grants: Set<RoleGrant>) -> Subject {
            Subject(user: .generate(), data: [:], customData: [:], grants: grants)
        }
        #expect(SecondFactorPolicy.everywhere.requires(subject([everywhere, within])))
        #expect(!SecondFactorPolicy.everywhere.requires(subject([within])))
        #expect(!SecondFactorPolicy.optional.requires(subject([everywhere])))
    }

    @Test(
        "a new second factor counts once it is confirmed, and recovery codes even work under another server secret"
    )
    func replaced() async throws {
        try await Place.with { place in
            try await place.authenticator.beginSecondFactor(of: place.userID)
            let entry = try await place.begin()
            // Until then the old one works.
            let token = try await place.give(place.code(), entry)

            let other = await Authenticator(
                pool: place.accounts.pool, tokens: try TokenConfiguration(secret: String(repeating: "x", count: 40)),
                hasher: PasswordHasher(parameters: .weakForTests), secondFactor: .optional)
            await #expect(throws: AuthenticationError.unreadableSecondFactor) {
                try await other.giveCode(entry.session, token, code: place.code(1), address: "", now: place.now)
            }
            _ = try await other.giveCode(
                entry.session, token, code: place.recoveryCodes[0], address: "", now: place.now)
            #expect(try await other.secondFactor(of: place.userID).pending == nil, "It should be unreadable too.")
        }
    }

    @Test("changes to a second factor are logged, without secrets or codes")
    func logged() async throws {
        try await Place.with { place in
            let lines = try await place.accounts.pool.query(
                "SELECT coalesce(marks, '') || coalesce(array_to_string(old, ' '), '') FROM tombolo.changelog"
            ).map { try $0[0].string }
            #expect(lines.contains { $0.contains("second_factor_at") })
            let secret = Base32.text(place.secret.secret)
            for line in lines {
                #expect(!line.contains(secret) && !line.contains("pending"))
                for code in place.recoveryCodes { #expect(!line.contains(code)) }
            }
        }
    }
}
