import PostgresClient
import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

/// What an open session may do follows what the database says about its user.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct AuthorityTests {
    /// The answers to the gateway's questions about a user.
    private final class Answers: Sendable {
        typealias Answer = Result<SessionAuthority, any Error>
        private let answer = Mutex<(now: Answer, count: Int)>((.success(.everything), 0))

        func become(_ new: Answer) { answer.withLock { $0.now = new } }

        var count: Int { answer.withLock { $0.count } }

        func next() throws -> SessionAuthority {
            try answer.withLock { answer in
                answer.count += 1
                return try answer.now.get()
            }
        }
    }

    private struct NoAnswer: Error {}

    private static let nothing = SessionAuthority(
        user: "somebody", rulesFingerprint: 2, readable: { _ in .constant(false) }, permit: { _ in "no" })

    /// - Parameter interval: how often sessions ask even if nothing prompts them.
    private func withSession(
        patience: Duration = .seconds(3_600), interval: Duration = .milliseconds(20),
        _ body: @escaping @Sendable (DeviceSocket, Answers, PostgresPool) async throws -> Void
    ) async throws {
        let answers = Answers()
        var limits = SessionLimits.patient
        limits.authorityInterval = interval
        limits.authorityPatience = patience
        try await GatewayFixture.with(
            try Schema.of([Note.self]), limits: limits, authorize: { _ in try answers.next() }
        ) { fixture in
            try await fixture.pool.execute("INSERT INTO note (_id, text) VALUES (1, 'one')")
            try await fixture.waitForTick()
            // With little patience, a session that opens slowly on a busy machine may end before its first batch. The
            // device then reconnects.
            let hasBegun = Mutex(false)
            while !hasBegun.withLock({ $0 }) {
                try Task.checkCancellation()
                do {
                    try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                        try await device.sayHello()
                        guard try await device.firstEnd({ $0.frameCount == 1 }) != nil else { return }
                        hasBegun.withLock { $0 = true }
                        try await body(device, answers, fixture.pool)
                    }
                } catch  where !hasBegun.withLock({ $0 }) {}
            }
        }
    }

    @Test
    func `When a role is removed, what only it allowed is removed from the device of an open session`() async throws {
        try await withSession { device, answers, _ in
            answers.become(.success(Self.nothing))
            let end = try await device.firstEnd { $0.position.rulesFingerprint == 2 }
            #expect(end?.replacesAll == false, "a difference, not everything again")
            #expect(end?.frameCount == 1)
        }
    }

    /// What the triggers of accounts, grants and documents write.
    private static func note(_ classNumber: Int, _ key: String) -> String {
        """
        INSERT INTO tombolo.changelog (class, key, operation, stamp) VALUES (\(classNumber), '\(key)', 'u', 1);
        INSERT INTO note (_id, text) VALUES (2, 'came with the change')
        """
    }

    @Test(
        "A change to the account or the rules reaches an open session with its tick",
        arguments: [(-1, "somebody"), (-2, "7")])
    func byTick(classNumber: Int, key: String) async throws {
        try await withSession(interval: .seconds(3_600)) { device, answers, pool in
            answers.become(.success(Self.nothing))
            try await pool.execute("BEGIN; \(Self.note(classNumber, key)); COMMIT")
            var sent = 0
            let end = try await device.first { message -> BatchEnd? in
                switch message {
                case .frame(let frame):
                    sent += frame.blocks.reduce(0) { $0 + $1.rowCount }
                    return nil
                case .end(let end) where end.position.rulesFingerprint == 2: return end
                default: return nil
                }
            }
            #expect(end?.replacesAll == false)
            #expect(sent == 0, "Rows that came with the change are matched against what the user may see after it.")
        }
    }

    @Test("A change to somebody else's account doesn't make the session ask again")
    func othersAccount() async throws {
        try await withSession(interval: .seconds(3_600)) { device, answers, pool in
            // The first tick ever may come after the session opened. It makes the gateway ask about every user, before
            // it sends the next tick.
            for key in 3...4 {
                try await pool.execute("INSERT INTO note (_id, text) VALUES (\(key), 'note')")
                #expect(try await device.firstEnd { $0.frameCount == 1 } != nil)
            }
            let before = answers.count
            try await pool.execute("BEGIN; \(Self.note(-1, "somebody else")); COMMIT")
            let end = try await device.firstEnd { $0.frameCount == 1 }
            #expect(end != nil)
            #expect(answers.count == before)
        }
    }

    @Test
    func `A token that is no longer accepted ends its open session`() async throws {
        try await withSession { device, answers, _ in
            answers.become(.failure(SessionFailure(.notAuthenticated, "The access token has expired.")))
            let failure = try await device.failure()
            #expect(failure == SessionFailure(.notAuthenticated, "The access token has expired."))
        }
    }

    @Test
    func `A database that briefly does not answer does not end a session`() async throws {
        try await withSession { device, answers, _ in
            answers.become(.failure(NoAnswer()))
            let before = answers.count
            while answers.count < before + 3 { await Task.yield() }
            answers.become(.success(Self.nothing))
            let end = try await device.firstEnd { $0.position.rulesFingerprint == 2 }
            #expect(end != nil)
        }
    }

    @Test
    func `A session does not go on forever with what was once known about its user`() async throws {
        try await withSession(patience: .milliseconds(200)) { device, answers, _ in
            answers.become(.failure(NoAnswer()))
            let failure = try await device.failure()
            #expect(failure?.code == .unavailable)
            #expect(failure?.isRetryable == true)
        }
    }
}
