import PostgresClient
import Synchronization
import Testing
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

/// What an open session may do follows what the database says of its user.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AuthorityTests {
    /// What is answered to the gateway's questions.
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

    private func withSession(
        patience: Duration = .seconds(300), _ body: @escaping @Sendable (DeviceSocket, Answers) async throws -> Void
    ) async throws {
        let answers = Answers()
        var limits = SessionLimits()
        limits.authorityInterval = .milliseconds(20)
        limits.authorityPatience = patience
        try await GatewayFixture.with(
            try Schema.of([Note.self]), limits: limits, authorize: { _ in try answers.next() }
        ) { fixture in
            try await fixture.pool.execute("INSERT INTO note (_id, text) VALUES (1, 'one')")
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello()
                let end = try await device.firstEnd { $0.frameCount == 1 }
                #expect(end != nil)
                try await body(device, answers)
            }
        }
    }

    @Test
    func `A role that is removed takes what it allowed off the device of an open session`() async throws {
        try await withSession { device, answers in
            answers.become(.success(Self.nothing))
            let end = try await device.firstEnd { $0.position.rulesFingerprint == 2 }
            #expect(end?.replacesAll == true)
            #expect(end?.frameCount == 0)
        }
    }

    @Test
    func `A token that is no longer accepted ends its open session`() async throws {
        try await withSession { device, answers in
            answers.become(.failure(SessionFailure(.notAuthenticated, "The access token has expired.")))
            let failure = try await device.failure()
            #expect(failure == SessionFailure(.notAuthenticated, "The access token has expired."))
        }
    }

    @Test
    func `A database that does not answer for a moment ends no session`() async throws {
        try await withSession { device, answers in
            answers.become(.failure(NoAnswer()))
            let before = answers.count
            while answers.count < before + 3 { await Task.yield() }
            answers.become(.success(Self.nothing))
            let end = try await device.firstEnd { $0.position.rulesFingerprint == 2 }
            #expect(end != nil)
        }
    }

    @Test
    func `A session does not go on for ever with what was known of its user`() async throws {
        try await withSession(patience: .milliseconds(200)) { device, answers in
            answers.become(.failure(NoAnswer()))
            let failure = try await device.failure()
            #expect(failure?.code == .unavailable)
            #expect(failure?.isRetryable == true)
        }
    }
}
