import PostgresClient
import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

@Suite(.serialized, .timeLimit(.minutes(15)))
struct EmptiedBatchTests {
    /// What a user may see: everything at first, and later only notes from number 100 on.
    private final class Account: Sendable {
        private let isReduced = Atomic(false)

        private static let fromHundred = SessionAuthority(
            user: "somebody", rulesFingerprint: 2,
            readable: { _ in .compare(PropertyPath("_id"), .greaterOrEqual, .int(100)) }, hidden: [0: [1]],
            permit: { _ in nil })

        /// Sessions ask about their users often, because the feed doesn't report a change that came with the first tick
        /// it saw.
        static var limits: SessionLimits {
            var limits = SessionLimits.patient
            limits.authorityInterval = .milliseconds(20)
            return limits
        }

        var authorize: @Sendable (String) async throws -> SessionAuthority {
            { _ in self.isReduced.load(ordering: .relaxed) ? Self.fromHundred : .everything }
        }

        func reduce(_ pool: PostgresPool) async throws {
            isReduced.store(true, ordering: .relaxed)
            try await pool.execute(
                "INSERT INTO tombolo.changelog (class, key, operation, stamp) VALUES (-1, 'somebody', 'u', 1)")
        }
    }

    @Test("a session whose batch is replaced by one without rows still gets later changes")
    func emptied() async throws {
        let (schema, account) = (try Schema.of([Note.self]), Account())
        try await GatewayFixture.with(
            schema, limits: Account.limits,
            models: {
                let gate = ReadGate()
                return HeldModels(
                    schema: schema, pool: $0, authorize: account.authorize, holdRead: { try await gate.wait() })
            }
        ) { fixture in
            try await fixture.pool.execute("INSERT INTO note (_id, text) VALUES (1, 'one')")
            try await fixture.waitForTick()
            let pool = fixture.pool
            try await DeviceSocket.with(schema, port: fixture.port) { device in
                try await device.sayHello()
                let frame = try await device.first { if case .frame = $0 { true } else { nil } }
                #expect(frame == true)
                try await account.reduce(pool)
                let end = try await device.firstEnd()
                #expect(end?.position.rulesFingerprint == 2)
                #expect(end?.frameCount == 0)
                try await pool.execute("INSERT INTO note (_id, text) VALUES (100, 'hundred')")
                let later = try await device.firstEnd { $0.frameCount > 0 }
                #expect(later?.frameCount == 1)
            }
        }
    }

    @Test("a batch doesn't count as waiting for its device just because the batch it replaces did")
    func waitingBefore() async throws {
        let (schema, account) = (try Schema.of([Note.self]), Account())
        try await GatewayFixture.with(schema, limits: Account.limits, authorize: account.authorize) { fixture in
            try await fixture.pool.execute("INSERT INTO note (_id, text) VALUES (1, 'one')")
            try await fixture.waitForTick()
            let (services, pool) = (fixture.gateway.services, fixture.pool)
            // No room for anything.
            #expect(services.spools.reserveMemory(SpoolBudget.memoryByteCount))
            for name in ["ann", "bob"] {
                #expect(services.spools.reserveDisk(SpoolBudget.diskByteCount / 2, of: Peer(name)))
            }
            try await DeviceSocket.with(schema, port: fixture.port) { device in
                try await device.sayHello()
                var found: SessionRunner?
                while true {
                    found = await services.clocks.sessions(SessionFilter()).first
                    if await found?.isReadWaitingForDevice == true { break }
                    try await Task.sleep(for: .milliseconds(5))
                }
                try await account.reduce(pool)
                let end = try await device.firstEnd()
                #expect(end?.position.rulesFingerprint == 2)
                let isWaiting = await found?.isReadWaitingForDevice
                #expect(isWaiting == false)
            }
        }
    }
}

/// Holds up the first read once it has found rows, until its task is cancelled.
private final class ReadGate: Sendable {
    private let isPassed = Atomic(false)

    func wait() async throws {
        guard !isPassed.exchange(true, ordering: .relaxed) else { return }
        for await _ in AsyncStream<Void>.makeStream().stream {}
        try Task.checkCancellation()
    }
}
