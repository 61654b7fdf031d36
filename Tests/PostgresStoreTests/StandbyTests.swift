import Foundation
import Logging
import PostgresClient
import Synchronization
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

/// Bootstraps from a real standby. Whatever happens to the standby, they must read exactly what a tick of the primary sees.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct StandbyTests {
    /// A primary with a sequencer, and its standby. Each account's key is the ID of the transaction that wrote it, so the tests can
    /// tell which accounts a tick sees.
    private struct Pair: Sendable {
        let primary: TestCluster
        let replica: TestCluster
        let configuration: PostgresConfiguration
        let pool: PostgresPool
        let schema: Schema

        static func with(_ body: @Sendable (Pair) async throws -> Void) async throws {
            let primary = try await TestCluster.start()
            let configuration = try await primary.createDatabase()
            let schema = try Schema.of([Account.self])
            let pool = PostgresPool(configuration: configuration, options: TestDatabase.poolOptions)
            try await pool.withConnection { try await PostgresSchema.install(schema, on: $0) }
            let replica = try await primary.startStandby()
            let pair = Pair(
                primary: primary, replica: replica, configuration: configuration, pool: pool, schema: schema)
            let sequencer = Sequencer(configuration: configuration, logger: Self.quiet)
            let sequencing = Task { await sequencer.run() }
            do {
                try await body(pair)
            } catch {
                print("The standby's log: \((try? String(contentsOfFile: replica.logFile, encoding: .utf8)) ?? "")")
                sequencing.cancel()
                throw error
            }
            sequencing.cancel()
            await sequencing.value
            await pool.shutdown()
            await replica.remove()
            await primary.remove()
        }

        static var quiet: Logger {
            var logger = Logger(label: "standby")
            logger.logLevel = .critical
            return logger
        }

        /// Limits for a machine so busy that neither the test nor a healthy standby makes progress for a while.
        static var patient: StandbyWatch.Limits {
            var limits = StandbyWatch.Limits()
            (limits.opening, limits.answer) = (.seconds(120), .seconds(120))
            return limits
        }

        /// A store that reads its bootstraps from a cluster, by default the standby.
        func store(
            reading cluster: TestCluster? = nil, limits: StandbyWatch.Limits = Self.patient
        ) async throws -> (PostgresServerStore, PostgresStandby) {
            let standby = PostgresStandby(
                configuration: (cluster ?? replica).copy(of: configuration), connections: 2, limits: limits,
                logger: Self.quiet)
            return (
                try await PostgresServerStore.open(schema: schema, pool: pool, standby: standby, logger: Self.quiet),
                standby
            )
        }

        func write() async throws {
            try await pool.query("INSERT INTO account (_id, balance) VALUES (pg_current_xact_id()::text::bigint, 0)")
        }

        /// Connects to a cluster that isn't frozen, however long it takes.
        func connect(_ cluster: TestCluster) async throws -> PostgresConnection {
            var copy = cluster.copy(of: configuration)
            copy.connectTimeout = .seconds(600)
            return try await PostgresConnection.connect(copy)
        }

        /// Waits until the primary's newest tick sees everything and the standby has the tick.
        func settle() async throws {
            let replica = try await connect(replica)
            try await eventually("a standby that has all") {
                let mine = try await StoredTick.latest(replica)
                return try await pool.withConnection { connection in
                    guard let stored = try await StoredTick.latest(connection) else { return false }
                    return try await !StoredTick.isOutdated(stored, connection) && stored.tick == mine?.tick
                }
            }
            await replica.close()
        }

        func eventually(_ what: String, _ condition: @Sendable () async throws -> Bool) async throws {
            let deadline = ContinuousClock.now + .seconds(600)
            while try await !condition() {
                try #require(ContinuousClock.now < deadline, "still not: \(what)")
                try await Task.sleep(for: .milliseconds(10))
            }
        }

        /// The store's method, retried while no sequencer has been heard from for too long.
        func withBootstrapReader<R: Sendable>(
            _ store: PostgresServerStore, _ body: @escaping @Sendable (any TickReader) async throws -> R
        ) async throws -> R {
            for _ in 0..<60 {
                do {
                    return try await store.withBootstrapReader(body)
                } catch let error as PostgresStoreError where error.code == .noSequencer {
                    continue
                }
            }
            return try await store.withBootstrapReader(body)
        }

        /// Bootstraps until one is read from the standby, which may be a moment behind.
        func serve(_ store: PostgresServerStore, _ standby: PostgresStandby, count: Int) async throws {
            try await eventually("a bootstrap from the standby") {
                try await settle()
                #expect(try await self.count(store) == count)
                return standby.statistics.served == 1
            }
        }

        /// The number of accounts as of a tick.
        func count(_ store: PostgresServerStore) async throws -> Int {
            try await withBootstrapReader(store) { try await $0.count(classIndex: 0, matching: .constant(true)) }
        }

        /// Bootstraps until one is read from the primary without asking the standby, because the standby is being rested. That's
        /// the next bootstrap unless the rest has ended by then.
        func rest(_ store: PostgresServerStore, _ standby: PostgresStandby, count: Int) async throws {
            let begin = standby.statistics.rested
            while standby.statistics.rested == begin {
                let before = standby.statistics
                #expect(try await self.count(store) == count)
                let after = standby.statistics
                #expect(after.served == before.served && after.lost == before.lost, "\(after)")
                try #require(after != before)
            }
        }

        /// All accounts as of a tick.
        func bootstrap(_ store: PostgresServerStore) async throws -> (tick: Tick, keys: Set<UInt64>) {
            let schema = schema
            return try await withBootstrapReader(store) { reader in
                let keys = Mutex<Set<UInt64>>([])
                try await reader.rows(classIndex: 0, matching: .constant(true), columns: [0, 1]) { block in
                    for row in 0..<block.rowCount {
                        if case .int(let number) = block.key(row: row, schema: schema) {
                            _ = keys.withLock { $0.insert(UInt64(number)) }
                        }
                    }
                }
                return (reader.tick, keys.withLock { $0 })
            }
        }

        /// The keys that a tick sees, by transaction ID.
        func expected(_ tick: Tick) async throws -> Set<UInt64> {
            let rows = try await pool.query("SELECT _id FROM account")
            return Set(try rows.map { UInt64(try $0[0].int64) }.filter(tick.snapshot.sees))
        }
    }

    /// How many bootstraps must be read from the standby (and be exact), besides those from the primary.
    private static let wantedReads = 30

    @Test("under concurrent writes, a bootstrap from the standby has exactly what its tick sees")
    func exact() async throws {
        try await Pair.with { pair in
            let (store, standby) = try await pair.store()
            try await pair.write()
            try await pair.settle()
            let writers = Task {
                await withTaskGroup(of: Void.self) { group in
                    for writer in 0..<3 {
                        group.addTask {
                            guard let connection = try? await PostgresConnection.connect(pair.configuration) else {
                                return
                            }
                            while !Task.isCancelled {
                                // Overlapping transactions that commit in a different order from the one they begin in.
                                _ = try? await connection.execute(
                                    """
                                    BEGIN; \
                                    INSERT INTO account (_id, balance) VALUES (pg_current_xact_id()::text::bigint, 0); \
                                    SELECT pg_sleep(random() * 0.0\(writer + 1)); COMMIT
                                    """)
                                try? await Task.sleep(for: .milliseconds(Int.random(in: 0..<120)))
                            }
                            await connection.close()
                        }
                    }
                }
            }
            // A busy machine rarely finds the standby at a tick, and each failed attempt puts the standby to rest.
            let deadline = ContinuousClock.now + .seconds(600)
            while standby.statistics.served < Self.wantedReads, ContinuousClock.now < deadline {
                let before = try await store.latestTick()
                let (tick, keys) = try await pair.bootstrap(store)
                #expect(tick.number >= before.number)
                let expected = try await pair.expected(tick)
                #expect(keys == expected, "\(keys.symmetricDifference(expected)) as of \(tick)")
                try await Task.sleep(for: .milliseconds(10))
            }
            writers.cancel()
            await writers.value
            // With fewer reads, the test would prove nothing.
            #expect(standby.statistics.served >= Self.wantedReads, "\(standby.statistics)")
            print("bootstraps under writers: \(standby.statistics)")
            try await pair.settle()
            await standby.pool.shutdown()
        }
    }

    @Test("a standby that is behind isn't read; once it has caught up, it's read again")
    func behind() async throws {
        try await Pair.with { pair in
            let (store, standby) = try await pair.store()
            try await pair.write()
            try await pair.serve(store, standby, count: 1)
            let replica = try await pair.connect(pair.replica)
            try await replica.execute("SELECT pg_wal_replay_pause()")
            try await pair.write()
            try await pair.eventually("a tick that sees both") {
                let tick = try await store.latestTick()
                return try await pair.expected(tick).count == 2
            }
            let before = standby.statistics
            #expect(try await pair.bootstrap(store).keys.count == 2)
            // `behind` can grow by more than one: while the primary has no tick to read, the standby is asked again.
            #expect(
                standby.statistics.served == 1 && standby.statistics.behind > before.behind, "\(standby.statistics)")
            // The standby isn't asked again for a while.
            try await pair.rest(store, standby, count: 2)
            try await replica.execute("SELECT pg_wal_replay_resume()")
            await replica.close()
            try await pair.eventually("a bootstrap from the standby that has caught up") {
                let count = try await pair.bootstrap(store).keys.count
                #expect(count == 2)
                return standby.statistics.served == 2
            }
            await standby.pool.shutdown()
        }
    }

    @Test("a standby that is gone isn't read; killing it in the middle of a read fails with standbyLost")
    func killed() async throws {
        try await Pair.with { pair in
            let (store, standby) = try await pair.store()
            try await pair.pool.query(
                "INSERT INTO account (_id, balance) SELECT -number, 0 FROM generate_series(1, 20000) AS number")
            try await pair.serve(store, standby, count: 20_000)
            let isFirst = Mutex(true)
            do {
                var isOfPrimary = true
                while isOfPrimary {
                    try await pair.settle()
                    isOfPrimary = try await pair.withBootstrapReader(store) { reader in
                        guard reader is StandbyReader else { return true }
                        try await reader.rows(classIndex: 0, matching: .constant(true), columns: [0, 1]) { _ in
                            let isNow = isFirst.withLock { isFirst in
                                defer { isFirst = false }
                                return isFirst
                            }
                            if isNow { try await pair.replica.kill9() }
                        }
                        return false
                    }
                }
                Issue.record("The read completed although the standby was killed.")
            } catch let error as PostgresStoreError {
                #expect(error.code == .standbyLost && error.meansReadAgain, "\(error)")
            }
            #expect(standby.statistics.lost == 1, "\(standby.statistics)")
            try await pair.rest(store, standby, count: 20_000)
            // Another gateway, which hasn't connected to the standby before.
            let (second, gone) = try await pair.store()
            #expect(try await pair.count(second) == 20_000)
            #expect(gone.statistics.unusable == 1, "\(gone.statistics)")
            for standby in [standby, gone] { await standby.pool.shutdown() }
        }
    }

    @Test("a frozen standby is given up: before a read, in the middle of one, and when the device has gone meanwhile")
    func frozen() async throws {
        try await Pair.with { pair in
            try await pair.pool.query(
                "INSERT INTO account (_id, balance) SELECT -number, 0 FROM generate_series(1, 200000) AS number")
            try await pair.settle()
            for isCancelled in [false, true] {
                var limits = Pair.patient
                limits.ending = .milliseconds(300)
                if !isCancelled { limits.answer = .seconds(3) }
                // On a busy machine, the first block may take longer than the limit.
                while try await !Self.freeze(pair, limits, isCancelled: isCancelled) { limits.answer *= 2 }
            }

            // Before a read: with an existing connection, and without one.
            var limits = Pair.patient
            limits.opening = .seconds(3)
            let (store, standby) = try await pair.store(limits: limits)
            try await pair.serve(store, standby, count: 200_000)
            let before = standby.statistics.unusable
            try await pair.replica.freeze()
            let (second, unknown) = try await pair.store(limits: limits)
            #expect(try await pair.count(store) == 200_000)
            #expect(try await pair.count(second) == 200_000)
            #expect(standby.statistics.unusable == before + 1 && unknown.statistics.unusable == 1)
            try await pair.replica.thaw()
            for standby in [standby, unknown] { await standby.pool.shutdown() }
        }
    }

    /// Freezes the standby after the first block of a read, and thaws it.
    /// - Returns: false if there was no first block, because the standby was too slow or not at a tick.
    private static func freeze(
        _ pair: Pair, _ limits: StandbyWatch.Limits, isCancelled: Bool
    ) async throws -> Bool {
        let (store, standby) = try await pair.store(limits: limits)
        let blocks = Blocks()
        let (isFrozen, isOver) = (Flag(), Flag())
        let read = Task {
            defer { isOver.set() }
            return try await pair.withBootstrapReader(store) { reader in
                guard reader is StandbyReader else { return }
                try await reader.rows(classIndex: 0, matching: .constant(true), columns: [0, 1]) { _ in
                    guard blocks.next() == 1 else { return }
                    try await pair.replica.freeze()
                    isFrozen.set()
                }
            }
        }
        try await pair.eventually("a first block") { isFrozen.isSet || (isOver.isSet && blocks.count == 0) }
        guard isFrozen.isSet else {
            _ = await read.result
            await standby.pool.shutdown()
            return false
        }
        if isCancelled { read.cancel() }
        do {
            _ = try await read.value
            Issue.record("The read completed although the standby was frozen.")
        } catch let error as PostgresStoreError {
            #expect(error.code == .standbyLost && !isCancelled, "\(error)")
        } catch is CancellationError {
            #expect(isCancelled)
        }
        let count = blocks.count
        try await pair.replica.thaw()
        try await pair.settle()
        #expect(blocks.count == count, "An abandoned reader received another block.")
        await standby.pool.shutdown()
        return true
    }

    private final class Flag: Sendable {
        private let state = Mutex(false)

        var isSet: Bool { state.withLock { $0 } }
        func set() { state.withLock { $0 = true } }
    }

    private final class Blocks: Sendable {
        private let seen = Mutex(0)

        var count: Int { seen.withLock { $0 } }

        func next() -> Int {
            seen.withLock { seen in
                seen += 1
                return seen
            }
        }
    }

    @Test("once a restored database has taken over the name, it is the one that's read")
    func restored() async throws {
        try await Pair.with { pair in
            try await pair.write()
            let (store, standby) = try await pair.store()
            try await pair.serve(store, standby, count: 1)

            let restored = try await pair.primary.createDatabase()
            let connection = try await PostgresConnection.connect(restored)
            try await PostgresSchema.install(pair.schema, on: connection)
            try await connection.query("INSERT INTO account (_id, balance) VALUES (-1, 0), (-2, 0)")
            await connection.close()
            try await Self.swap(pair.primary, pair.configuration.database, restored.database)

            let before = standby.statistics.served
            try await pair.eventually("a bootstrap from the restored database's copy") {
                let count = try? await pair.count(store)
                return count == 2 && standby.statistics.served > before
            }
            try await pair.eventually("its newest tick") {
                guard let newest = await standby.newestTick() else { return false }
                return try await store.tick(newest.number)?.token == newest.token
            }
            await standby.pool.shutdown()
        }
    }

    /// Gives the second database the name of the first, as a restore does.
    private static func swap(_ cluster: TestCluster, _ first: String?, _ second: String?) async throws {
        let (first, second) = (try #require(first), try #require(second))
        let connection = try await PostgresConnection.connect(cluster.configuration)
        while true {
            do {
                try await connection.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN ($1, $2)",
                    [.text(first), .text(second)])
                try await connection.execute(
                    """
                    BEGIN;
                    ALTER DATABASE \(PostgresSQL.quoteIdentifier(first)) RENAME TO put_aside;
                    ALTER DATABASE \(PostgresSQL.quoteIdentifier(second)) RENAME TO \(PostgresSQL.quoteIdentifier(first));
                    COMMIT
                    """)
                break
            } catch let error as PostgresError where error.code == .objectInUse {
                // Some client has connected again.
                await connection.rollback()
            }
        }
        await connection.close()
    }

    @Test("neither a promoted standby nor a standby with another history is read")
    func otherHistories() async throws {
        try await Pair.with { pair in
            try await pair.write()
            let (store, standby) = try await pair.store()
            try await pair.serve(store, standby, count: 1)

            try await pair.replica.promote()
            let (second, promoted) = try await pair.store()
            #expect(try await pair.bootstrap(second).keys.count == 1)
            #expect(promoted.statistics.unusable == 1, "\(promoted.statistics)")

            // The promoted standby goes its own way, with its own ticks and its own standby.
            let connection = try await pair.connect(pair.replica)
            let sequencer = Sequencer(configuration: connection.configuration, logger: Pair.quiet)
            for number in 1...20 {
                try await connection.query(
                    "INSERT INTO account (_id, balance) VALUES ($1, 0)", [.int64(Int64(-number))])
                _ = try await sequencer.makeTick()
            }
            let other = try await pair.replica.startStandby()
            let copy = try await pair.connect(other)
            try await pair.eventually("the other standby") {
                try await copy.query("SELECT count(*) FROM account")[0, 0].int == 21
            }
            await copy.close()
            let (third, foreign) = try await pair.store(reading: other)
            #expect(try await pair.bootstrap(third).keys.count == 1)
            #expect(foreign.statistics.unusable == 1, "\(foreign.statistics)")
            await sequencer.resign()
            await connection.close()
            for standby in [standby, promoted, foreign] { await standby.pool.shutdown() }
            await other.remove()
        }
    }
}
