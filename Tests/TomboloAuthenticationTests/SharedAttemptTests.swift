import Foundation
import Logging
import PostgresClient
import Testing
import TomboloModel

@testable import TomboloAuthentication

/// Limits that an attacker can't evade by trying several servers.
@Suite struct SharedAttemptTests {
    /// Whether an attempt is refused because there were too many.
    private func isLimited(_ body: () async throws -> Void) async throws -> Bool {
        do {
            try await body()
        } catch AuthenticationError.tooManyAttempts(let seconds) {
            #expect(seconds >= 1)
            return true
        } catch AuthenticationError.wrongCredentials {
        } catch AuthenticationError.wrongCode {
        }
        return false
    }

    /// Makes the counted attempts older.
    private func age(_ place: AccountPlace, _ seconds: Double) async throws {
        try await place.pool.query(
            """
            UPDATE tombolo.attempt SET last_at = last_at - make_interval(secs => $1),
                ends_at = ends_at - make_interval(secs => $1)
            """, [.double(seconds)])
    }

    private func rowCount(_ place: AccountPlace) async throws -> Int {
        try await place.pool.query("SELECT count(*) FROM tombolo.attempt")[0, 0].int
    }

    @Test("an account that is tried at one server makes strangers wait at every server, until the right password comes")
    func logins() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let (one, other) = (place.authenticator, await place.server())
            func isLimited(_ server: Authenticator, _ password: String, _ address: String) async throws -> Bool {
                try await self.isLimited {
                    _ = try await server.login(email: " ANN@example.org", password: password, address: address)
                }
            }
            // The server remembers the address from which the account logged in there.
            #expect(try await !isLimited(other, AccountPlace.password, "192.0.2.1"))
            for number in 0..<Authenticator.maximumFailedLoginsOfAccount {
                #expect(try await !isLimited(one, "wrong password", "198.51.100.\(number)"), "\(number)")
            }
            // Pretend there were more failures, so that the delay is the longest one. It begins in an hour, so it can't
            // end during the test, however slow the machine is.
            try await place.pool.query(
                """
                UPDATE tombolo.attempt SET attempts = attempts + 10, last_at = now() + interval '1 hour',
                    ends_at = now() + interval '1 day'
                """)
            #expect(try await isLimited(other, AccountPlace.password, "203.0.113.1"))
            #expect(try await !isLimited(other, "wrong password", "192.0.2.1"))
            #expect(
                try await !self.isLimited { _ = try await other.login(email: "bob@example.org", password: "guess") })
            // After the longest delay one more attempt is allowed; the right password ends the delays.
            try await age(place, 3_600 + Authenticator.maximumAccountDelaySeconds)
            #expect(try await !isLimited(other, AccountPlace.password, "203.0.113.1"))
            let third = await place.server()
            #expect(try await !isLimited(third, AccountPlace.password, "203.0.113.2"))
        }
    }

    @Test("concurrent attempts at several servers are all counted, and forgotten after a while without one")
    func counting() async throws {
        try await AccountPlace.with { place in
            let servers = [place.authenticator.attempts, await place.server().attempts]
            let key = servers[0].key(.login, "ann@example.org")
            #expect(key == servers[1].key(.login, "ann@example.org") && key != servers[1].key(.code, "ann@example.org"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask { try await servers[number % 2].addFailure(key, memorySeconds: 9_000) }
                }
                try await group.waitForAll()
            }
            let count = try #require(try await servers[0].count(of: key))
            #expect(count.attempts == 40 && count.age >= 0 && count.secondsLeft <= 9_000)
            try await age(place, 6_000)
            try await servers[1].addFailure(key, memorySeconds: 9_000)
            try await age(place, 6_000)
            #expect(try await servers[0].count(of: key)?.attempts == 41)
            try await age(place, 4_000)
            #expect(try await servers[0].count(of: key) == nil)
            try await servers[0].addFailure(key, memorySeconds: 9_000)
            #expect(try await servers[0].count(of: key)?.attempts == 1)
        }
    }

    @Test("mails to an address are counted together for an hour, whoever requests them and from whichever server")
    func mails() async throws {
        try await AccountPlace.with { place in
            let room = MailRoom(.folder(URL(fileURLWithPath: "/nowhere")), logger: Logger(label: "mail"))
            var servers: [Authenticator] = []
            for _ in 0..<2 {
                servers.append(
                    await Authenticator(
                        pool: place.pool, tokens: place.tokens, hasher: PasswordHasher(parameters: .weakForTests),
                        mail: room))
            }
            func isLimited(_ number: Int, _ email: String = AccountPlace.email) async throws -> Bool {
                let server = servers[number % 2]
                return try await self.isLimited {
                    try await server.sendReset(email: email, address: "192.0.2.\(number)")
                }
            }
            for number in 0..<ActionLimiter.maximumMails { #expect(try await !isLimited(number), "\(number)") }
            for number in 10..<14 { #expect(try await isLimited(number)) }
            #expect(try await !isLimited(14, "bob@example.org"))
            // Refusals don't extend the wait. Invitations are counted separately.
            try await age(place, ActionLimiter.mailWindowSeconds / 2)
            #expect(try await isLimited(15))
            try await servers[0].pool.transaction { connection in
                try await servers[0].beginInvitation(to: AccountPlace.email, address: "", connection)
            }
            try await age(place, ActionLimiter.mailWindowSeconds / 2)
            #expect(try await !isLimited(16))
        }
    }

    @Test("the table doesn't reveal whose accounts were tried, and keeps nothing that no longer counts")
    func rows() async throws {
        try await AccountPlace.with { place in
            let attempts = place.authenticator.attempts
            for number in 0..<150 {
                try await attempts.addFailure(attempts.key(.login, "\(number)@example.org"), memorySeconds: 6_000)
            }
            #expect(try await rowCount(place) == 150)
            let texts = try await place.pool.query("SELECT a::text FROM tombolo.attempt a").map { try $0[0].string }
            #expect(!texts.contains { $0.contains("example") })
            let other = SharedAttempts(
                pool: place.pool, tokens: try TokenConfiguration(secret: String(repeating: "x", count: 40)))
            #expect(attempts.key(.login, "1@example.org") != other.key(.login, "1@example.org"))
            try await age(place, 6_001)
            for _ in 0..<2 { try await attempts.addFailure(attempts.key(.login, "new"), memorySeconds: 6_000) }
            #expect(try await rowCount(place) == 1)
            try await attempts.forget(attempts.key(.login, "new"))
            #expect(try await rowCount(place) == 0)
        }
    }

    @Test("a successful login writes nothing about attempts")
    func successes() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            for _ in 0..<3 { _ = try await place.login() }
            #expect(try await rowCount(place) == 0)
        }
    }
}
