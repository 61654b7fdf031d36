import Foundation
import PostgresClient
import Testing
import TomboloModel
import TomboloRules

@testable import TomboloAuthentication

@Suite struct SessionTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func later(_ seconds: Double) -> Date { now.addingTimeInterval(seconds) }

    @Test("a refresh token is exchanged for tokens of the same session, user and device")
    func exchange() async throws {
        try await AccountPlace.with { place in
            let user = try await place.register()
            let first = try await place.login(now: now)
            var newest = first
            for step in 1...5 {
                let next = try await place.authenticator.refresh(newest.refreshToken, now: later(Double(step) * 1_000))
                #expect(next.userID == user && next.sessionID == first.sessionID && next.deviceID == first.deviceID)
                #expect(next.refreshToken != newest.refreshToken && next.token != newest.token)
                #expect(
                    try await place.authenticator.verify(next.token, now: later(Double(step) * 1_000)).userID == user)
                newest = next
            }
            // The database doesn't contain the tokens' text.
            let rows = try await place.pool.query(
                """
                SELECT t::text FROM tombolo.refresh_token t UNION ALL SELECT s::text FROM tombolo.login_session s
                """)
            let secret = try #require(RefreshToken(newest.refreshToken))
            for row in rows {
                let text = try row[0].string
                for part in [secret.secret, secret.family] {
                    #expect(!text.contains(part.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()))
                }
            }
        }
    }

    @Test("an old refresh token that a thief uses ends the session, for thief and owner")
    func reuseEndsTheFamily() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let bystander = try await place.login(now: now)
            let stolen = try await place.login(now: now)
            let second = try await place.authenticator.refresh(stolen.refreshToken, now: later(10))
            let third = try await place.authenticator.refresh(second.refreshToken, now: later(20))
            // The token was exchanged two exchanges ago, so there is no grace period.
            let changes = try await place.logged {
                await #expect(throws: AuthenticationError.endedSession) {
                    try await place.authenticator.refresh(stolen.refreshToken, now: later(21))
                }
            }
            #expect(changes == [stolen.userID.stringValue])
            #expect(try await place.endReason(stolen.sessionID) == "token reused")
            for token in [third, second, stolen] {
                await #expect(throws: AuthenticationError.endedSession) {
                    try await place.authenticator.refresh(token.refreshToken, now: later(22))
                }
            }
            place.authenticator.forgetRoles()
            await #expect(throws: AuthenticationError.revokedToken) {
                try await place.authenticator.verify(third.token, now: later(22))
            }
            _ = try await place.authenticator.refresh(bystander.refreshToken, now: later(22))
        }
    }

    @Test("a lost answer is repeated with the same successor, for a short time and a few times only")
    func lostAnswers() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let old = try await place.login(now: now)
            let new = try await place.authenticator.refresh(old.refreshToken, now: later(100))
            for _ in 0..<RefreshGrace.maximumRepeats {
                let again = try await place.server().refresh(
                    old.refreshToken, now: later(100 + Double(RefreshGrace.seconds)))
                #expect(again.refreshToken == new.refreshToken)
            }
            await #expect(throws: AuthenticationError.endedSession) {
                try await place.authenticator.refresh(old.refreshToken, now: later(101))
            }
            #expect(try await place.endReason(old.sessionID) == "token reused")

            let slow = try await place.login(now: now)
            _ = try await place.authenticator.refresh(slow.refreshToken, now: later(100))
            await #expect(throws: AuthenticationError.endedSession) {
                try await place.authenticator.refresh(
                    slow.refreshToken, now: later(101 + Double(RefreshGrace.seconds)))
            }
            #expect(try await place.endReason(slow.sessionID) == "token reused")
        }
    }

    @Test("two exchanges of one token at the same time give the same successor")
    func simultaneousExchanges() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            for _ in 0..<10 {
                let login = try await place.login(now: now)
                let servers = [place.authenticator, await place.server()]
                let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                    for server in servers {
                        // The exchanges overlap, even if one of them stalls.
                        group.addTask { try await server.refresh(login.refreshToken, now: now).refreshToken }
                    }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(tokens.count == 1)
            }
        }
    }

    @Test("anything that isn't the session's refresh token is refused and ends nothing")
    func forgedTokens() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let login = try await place.login()
            let real = try #require(RefreshToken(login.refreshToken))
            // The session's ID isn't secret: access tokens and lists contain it.
            let guessed = RefreshToken(sessionID: real.sessionID)
            for text in [
                guessed.text, login.token, "", "tombolo_r_", "tombolo_r_****", String(login.refreshToken.dropLast()),
                login.refreshToken + "A", login.refreshToken.replacing("tombolo_r_", with: "tombolo_k_"),
                RefreshToken.prefix + String(repeating: "A", count: 80), String(repeating: "x", count: 100_000),
            ] {
                await #expect(throws: AuthenticationError.endedSession) {
                    try await place.authenticator.refresh(text)
                }
                await #expect(throws: AuthenticationError.endedSession) { try await place.authenticator.logOut(text) }
            }
            _ = try await place.authenticator.refresh(login.refreshToken)
        }
    }

    @Test("a session ends if its token isn't exchanged during its lifetime, and continues if it is")
    func sessionsExpire() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let login = try await place.login(now: now)
            let lifetime = Double(LoginSession.lifetimeSeconds)
            #expect(login.refreshExpiresAt == later(lifetime))
            let next = try await place.authenticator.refresh(login.refreshToken, now: later(lifetime - 1))
            #expect(try await place.authenticator.sessions(of: login.userID, now: later(lifetime)).count == 1)
            await #expect(throws: AuthenticationError.endedSession) {
                try await place.authenticator.refresh(next.refreshToken, now: later(2 * lifetime - 1))
            }
            #expect(try await place.authenticator.sessions(of: login.userID, now: later(2 * lifetime)).isEmpty)
        }
    }

    @Test("a user sees and ends only their own logins")
    func lists() async throws {
        try await AccountPlace.with { place in
            let ann = try await place.register()
            let bob = try await place.register("bob@example.org")
            let phone = LoginDevice(
                name: "Ann's phone\u{7}", platform: "iOS 18", app: String(repeating: "ä", count: 90))
            let onPhone = try await place.login(device: phone, now: now)
            let onDesk = try await place.login(device: LoginDevice(name: "Desk"), now: later(1))
            let bobs = try await place.login("bob@example.org", now: now)
            let sessions = try await place.authenticator.sessions(of: ann, now: later(2))
            #expect(sessions.map(\.id) == [onDesk.sessionID, onPhone.sessionID])
            #expect(sessions[1].device.name == "Ann's phone" && sessions[1].device.platform == "iOS 18")
            #expect(sessions[1].device.app == String(repeating: "ä", count: LoginDevice.maximumTextByteCount / 2))
            #expect(sessions[1].provider == "local-userpass" && sessions[1].lastUsedAt == now)

            await #expect(throws: AuthenticationError.noSuchSession) {
                try await place.authenticator.endSession(onPhone.sessionID, of: bob)
            }
            try await place.authenticator.endSession(onPhone.sessionID, of: ann)
            await #expect(throws: AuthenticationError.noSuchSession) {
                try await place.authenticator.endSession(onPhone.sessionID, of: ann)
            }
            await #expect(throws: AuthenticationError.revokedToken) {
                try await place.authenticator.verify(onPhone.token, now: now)
            }
            let third = try await place.login(now: later(3))
            try await place.authenticator.endSessions(of: ann, but: third.sessionID)
            #expect(try await place.authenticator.sessions(of: ann, now: later(4)).map(\.id) == [third.sessionID])
            try await place.authenticator.logOut(third.refreshToken)
            try await place.authenticator.logOut(third.refreshToken)
            #expect(try await place.authenticator.sessions(of: ann, now: later(4)).isEmpty)
            #expect(try await place.authenticator.sessions(of: bob, now: later(4)).map(\.id) == [bobs.sessionID])
        }
    }

    @Test("a login on the same device replaces the previous one; there are never more than the limit")
    func sessionsAreBounded() async throws {
        try await AccountPlace.with { place in
            let ann = try await place.register()
            let phone = LoginDevice(name: "phone")
            let first = try await place.login(device: phone, now: now)
            let second = try await place.login(device: phone, now: later(1))
            #expect(first.deviceID == second.deviceID)
            #expect(try await place.authenticator.sessions(of: ann, now: later(2)).map(\.id) == [second.sessionID])
            #expect(try await place.endReason(first.sessionID) == "replaced")
            for count in 0..<LoginSession.maximumCountOfUser {
                _ = try await place.login(now: later(Double(count) + 2))
            }
            let live = try await place.authenticator.sessions(of: ann, now: later(100))
            #expect(live.count == LoginSession.maximumCountOfUser && !live.map(\.id).contains(second.sessionID))
            // Ended sessions are deleted some time later.
            _ = try await place.login(now: later(Double(LoginSession.keptSeconds) + 1_000))
            let ended = try await place.pool.query(
                "SELECT count(*) FROM tombolo.login_session WHERE revoked_at < $1",
                [.timestamptz(microseconds: later(1_000).microseconds)])
            #expect(try ended[0, 0].int == 0)
        }
    }

    @Test("a password change, a revocation and a disabled or deleted account end sessions and their refresh tokens")
    func accountsEndSessions() async throws {
        try await AccountPlace.with { place in
            let accounts = AccountRegistry(pool: place.pool, hasher: PasswordHasher(parameters: .weakForTests))
            let endings: [@Sendable (String) async throws -> Void] = [
                { try await accounts.setPassword(AccountPlace.password, email: $0) },
                { try await accounts.revokeTokens(email: $0) },
                { try await accounts.setEnabled(false, email: $0) },
                { try await place.pool.query("DELETE FROM tombolo.account WHERE email = $1", [.text($0)]) },
            ]
            for (number, end) in endings.enumerated() {
                let email = "user\(number)@example.org"
                let user = try await place.register(email)
                let login = try await place.login(email)
                #expect(Set(try await place.logged { try await end(email) }) == [user.stringValue])
                place.authenticator.forgetRoles()
                await #expect(throws: AuthenticationError.self) { try await place.authenticator.verify(login.token) }
                await #expect(throws: AuthenticationError.endedSession) {
                    try await place.authenticator.refresh(login.refreshToken)
                }
            }
        }
    }

    @Test("logins and exchanges aren't logged for gateways, but the end of a session is")
    func changelog() async throws {
        try await AccountPlace.with { place in
            let ann = try await place.register()
            let quiet = try await place.logged {
                let login = try await place.login()
                _ = try await place.authenticator.refresh(login.refreshToken)
            }
            #expect(quiet == [])
            #expect(try await place.logged { try await place.authenticator.endSessions(of: ann) } == [ann.stringValue])
        }
    }
}
