import Foundation
import Logging
import PostgresClient
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Tombolo
import TomboloModel
import TomboloPostgresStore
import TomboloRedis

@testable import GatewayService

/// What every way of hearing about ticks has to do. A wake-up needn't be right, because a tick's content is read from
/// PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct TickWakeUpTests {
    enum Way: String, CaseIterable {
        case postgres, redis, redisWithTLS
    }

    /// One of the ways, running.
    private struct Stage: Sendable {
        let ticks: any TickWakeUps
        let pool: PostgresPool
        /// Breaks the connection, which can be made again afterwards.
        let interrupt: @Sendable () async throws -> Void
        /// Sends a message that no sequencer would send.
        let forge: @Sendable (String) async throws -> Void

        /// Commits a change, so that the sequencer makes a tick.
        func write() async throws {
            try await pool.query(
                #"INSERT INTO note (_id, text) VALUES ($1, 'x')"#, [.int64(.random(in: 1 ... .max))])
        }
    }

    private static func with(_ way: Way, _ body: @Sendable (Stage) async throws -> Void) async throws {
        var logger = Logger(label: "wake-ups")
        logger.logLevel = .critical
        let quiet = logger
        let configuration = try await TestCluster.shared().createDatabase()
        let pool = PostgresPool(configuration: configuration, options: .patient(4), logger: logger)
        let schema = try Schema.of([Note.self])
        try await pool.withConnection { try await PostgresSchema.install(schema, on: $0) }

        @Sendable func run(_ stage: Stage, _ sequencer: SequencerService) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await stage.ticks.run() }
                group.addTask { try await sequencer.run() }
                try await body(stage)
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        switch way {
        case .postgres:
            try await run(
                Stage(
                    ticks: TickListener(configuration: configuration, logger: quiet), pool: pool,
                    interrupt: {
                        try await pool.query(
                            """
                            SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                            WHERE datname = current_database() AND query LIKE 'LISTEN%'
                            """)
                    },
                    forge: { try await pool.query("SELECT pg_notify($1, $2)", [.text(Sequencer.channel), .text($0)]) }),
                SequencerService(configuration: configuration, logger: quiet))
        case .redis, .redisWithTLS:
            try await TestRedis.with(tls: way == .redisWithTLS) { server in
                var address = try #require(RedisAddress(server.address))
                address.trustedCertificates = server.authority?.path()
                let forger = RedisConnection(address, .publisher(channel: Sequencer.channel), logger: quiet)
                let forging = Task { await forger.run() }
                try await run(
                    Stage(
                        ticks: RedisTickListener(address, logger: quiet), pool: pool,
                        interrupt: {
                            await server.kill9()
                            try await server.start()
                        },
                        forge: { forger.publish($0) }),
                    SequencerService(configuration: configuration, redis: address, logger: quiet))
                forging.cancel()
                await forging.value
            }
        }
        await pool.shutdown()
    }

    /// A feed that only counts what it hears.
    private final class Listener: Sendable {
        private let heard = Mutex(0)

        var count: Int { heard.withLock { $0 } }

        /// - Returns: a task that listens until it's cancelled.
        func listen(to ticks: any TickWakeUps) -> Task<Void, Never> {
            let stream = ticks.wakeUps()
            return Task {
                for await _ in stream { heard.withLock { $0 += 1 } }
            }
        }

        /// Waits until nothing has come for a while, so that the next wake-up has a new cause.
        func rest() async throws {
            var before = -1
            while before != count {
                before = count
                try await Task.sleep(for: .milliseconds(300))
            }
        }

        /// Waits for a new wake-up.
        /// - Parameter again: repeats what should wake the listener, because a message that is sent just as the connection is
        ///   lost may be lost too.
        func next(
            after before: Int, _ what: String, again: () async throws -> Void = {}
        ) async throws {
            let deadline = ContinuousClock.now + .seconds(240)
            var next = ContinuousClock.now + .seconds(5)
            while count <= before {
                try #require(ContinuousClock.now < deadline, "nothing woke the listener after \(what)")
                try await Task.sleep(for: .milliseconds(10))
                guard ContinuousClock.now > next else { continue }
                try await again()
                next = .now + .seconds(5)
            }
        }
    }

    @Test("a tick wakes every feed, even after the connection was lost", arguments: Way.allCases)
    func ticksAreHeard(_ way: Way) async throws {
        try await Self.with(way) { stage in
            let listeners = [Listener(), Listener()]
            let listening = listeners.map { $0.listen(to: stage.ticks) }
            for listener in listeners { try await listener.next(after: 0, "the connection") }
            for round in 1...3 {
                for listener in listeners { try await listener.rest() }
                let before = listeners.map(\.count)
                try await stage.write()
                for (listener, count) in zip(listeners, before) {
                    try await listener.next(after: count, "tick \(round)") { try await stage.write() }
                }

                for listener in listeners { try await listener.rest() }
                let lost = listeners.map(\.count)
                try await stage.interrupt()
                // The listeners are woken because they may have missed something. Interrupt again if this came while the
                // connection was being made.
                for (listener, count) in zip(listeners, lost) {
                    try await listener.next(after: count, "loss \(round)") { try await stage.interrupt() }
                }
            }
            for task in listening { task.cancel() }
            for task in listening { await task.value }
        }
    }

    @Test("a feed that isn't reading keeps a single wake-up, whatever is sent", arguments: Way.allCases)
    func wakeUpsDoNotPileUp(_ way: Way) async throws {
        try await Self.with(way) { stage in
            let slow = stage.ticks.wakeUps()
            let listener = Listener()
            let listening = listener.listen(to: stage.ticks)
            try await listener.next(after: 0, "the connection")
            for text in ["17", "", "not a number", String(repeating: "9", count: 4_000)] {
                try await listener.rest()
                let before = listener.count
                try await stage.forge(text)
                try await listener.next(after: before, "a message that nobody should send") {
                    try await stage.forge(text)
                }
            }
            listening.cancel()
            await listening.value
            // Only the wake-up that was kept is still to come.
            stage.ticks.signals.finish()
            var count = 0
            for await _ in slow { count += 1 }
            #expect(count == 1)
        }
    }

    @Test("devices synchronise over Redis, and keep going when it's gone or lies")
    func devices() async throws {
        try await TestRedis.with { server in
            let address = try #require(RedisAddress(server.address))
            var logger = Logger(label: "forger")
            logger.logLevel = .critical
            let forger = RedisConnection(address, .publisher(channel: Sequencer.channel), logger: logger)
            let forging = Task { await forger.run() }
            try await GatewayFixture.with(try Schema.of([Note.self]), redis: address) { fixture in
                let (writer, reader) = (
                    try await fixture.device("writer", [Note.self]), try await fixture.device("reader", [Note.self])
                )
                for device in [writer, reader] {
                    let subscriptions = device.subscriptions
                    try await subscriptions.update { subscriptions.append(QuerySubscription<Note>()) }
                }
                for round in 1...3 {
                    for number in 0..<20 { forger.publish("\(Int64.max - Int64(number))") }
                    try writer.write { writer.add(Note(value: ["_id": round, "text": "round \(round)"])) }
                    let deadline = ContinuousClock.now + .seconds(240)
                    while reader.objects(Note.self).count < round {
                        try #require(ContinuousClock.now < deadline, "round \(round)")
                        try await Task.sleep(for: .milliseconds(20))
                        reader.refresh()
                    }
                    if round == 2 { await server.kill9() }
                }
            }
            forging.cancel()
            await forging.value
        }
    }
}
