import PostgresClient
import Synchronization
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

/// Tests the feed with writers hostile enough to break naive readers, all in one run.
@Suite(.serialized, .timeLimit(.minutes(30))) struct FeedTests {
    /// How many batches the correct reader must get right.
    static let requiredBatches = 150
    /// The run ends after this many batches. If a wrong reader hasn't failed by then, the test does.
    static let maximumBatches = 4_000

    private final class Progress: Sendable {
        let failed = Mutex<Set<WrongReader.Way>>([])
        let isOver = Atomic<Bool>(false)
    }

    @Test(
        "Commands that wait for all older snapshots, such as CREATE INDEX CONCURRENTLY, don't wait for the feed's to age"
    )
    func snapshotsMakeWay() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        // The age is so high that the test would time out if the command had to wait for it.
        let sequencer = Sequencer(configuration: database.configuration, snapshotAge: .seconds(86_400))
        let sequencing = Task { await sequencer.run() }
        let connection = try await database.connect()
        while try await connection.query("SELECT count(*) FROM tombolo.tick")[0, 0].int == 0 {
            try await Task.sleep(for: .milliseconds(5))
        }
        try await connection.execute("CREATE TABLE plain (number bigint)")
        for number in 1...3 {
            try await connection.execute("CREATE INDEX CONCURRENTLY plain_\(number) ON plain (number)")
        }
        await connection.close()
        sequencing.cancel()
        await sequencing.value
        await database.finish()
    }

    @Test("A change is found among few transactions since the last tick, and among many", arguments: [0, 1_200])
    func transactionsSince(count: Int) async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        // The age is so high that no tick is made because of it.
        let sequencer = Sequencer(configuration: database.configuration, snapshotAge: .seconds(86_400))
        let (early, late) = (try await database.connect(), try await database.connect())
        _ = try #require(try await sequencer.makeTick())
        // Transactions that change nothing, beside one that stays open.
        let burn = "DO $$ BEGIN FOR i IN 1..\(count) LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$"
        try await early.execute("BEGIN; INSERT INTO account SELECT n, 0 FROM generate_series(1, 20) n")
        try await late.execute(burn)
        #expect(try await sequencer.makeTick() == nil)
        try await late.execute("INSERT INTO account VALUES (100, 0)")
        _ = try #require(try await sequencer.makeTick())
        // The INSERT was still running when the tick was made.
        try await late.execute(burn)
        #expect(try await sequencer.makeTick() == nil)
        try await early.execute("COMMIT")
        _ = try #require(try await sequencer.makeTick())
        #expect(try await sequencer.makeTick() == nil)
        await early.close()
        await late.close()
        await sequencer.resign()
        await database.finish()
    }

    @Test("The feed misses nothing under writers that make naive readers fail")
    func hostileWriters() async throws {
        let seed = UInt64.random(in: 0...UInt64.max >> 1)
        print("seed of the writers: \(seed)")
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        try await HostileWriters.prepare(connection)
        let writers = HostileWriters(configuration: database.configuration, seed: seed)
        let sequencer = Sequencer(configuration: database.configuration)
        let progress = Progress()

        let sequencing = Task { await sequencer.run() }
        let writing = Task { try await writers.run() }
        let wrong = WrongReader.Way.allCases.map { way in
            Task {
                try await WrongReader(way: way, configuration: database.configuration).run {
                    progress.isOver.load(ordering: .relaxed)
                } failed: {
                    progress.failed.withLock { _ = $0.insert(way) }
                }
            }
        }
        let right = Task {
            defer { writers.stop() }
            return try await follow(database, progress)
        }
        let batches = try await right.value
        try await writing.value
        // The last tick contains everything that was written.
        let last = try await settle(database)
        progress.isOver.store(true, ordering: .relaxed)
        for (way, task) in zip(WrongReader.Way.allCases, wrong) {
            let outcome = try await task.value
            let kinds = Set(outcome.problems.map { $0.prefix(16) })
            print("\(way.rawValue): \(outcome.problems.count) problems in \(outcome.batches) batches \(kinds.sorted())")
            #expect(!outcome.problems.isEmpty, "\(way.rawValue) did not fail: the writers are not hostile enough")
        }
        print("tick feed: 0 problems in \(batches) batches, \(writers.commits) commits, last tick \(last.number)")
        #expect(batches >= Self.requiredBatches)
        sequencing.cancel()
        await sequencing.value
        await connection.close()
        await database.finish()
    }

    /// Waits for a tick that contains everything.
    private func settle(_ database: TestDatabase) async throws -> Tick {
        while true {
            let tick = try await database.store.latestTick()
            let unseen = try await database.pool.query(
                "SELECT count(*) FROM tombolo.changelog WHERE NOT pg_visible_in_snapshot(xid, $1::pg_snapshot)",
                [.untyped(tick.snapshot.description)])
            if try unseen[0][0].int64 == 0 { return tick }
            try await database.pool.execute("SELECT pg_sleep(0.01)")
        }
    }

    /// Feeds a device file from ticks and compares it with the database after every batch.
    private func follow(_ database: TestDatabase, _ progress: Progress) async throws -> Int {
        let file = DeviceActor()
        var last: Tick?
        var batches = 0
        while batches < Self.maximumBatches {
            let known = last
            let tick = try await database.withReader { reader in
                guard reader.tick.number != known?.number else { return nil as Tick? }
                try await file.take(reader, from: known, schema: database.schema)
                return reader.tick
            }
            guard let tick else {
                try await database.pool.execute("SELECT pg_sleep(0.002)")
                continue
            }
            last = tick
            batches += 1
            let failed = progress.failed.withLock { $0.count }
            if batches >= Self.requiredBatches, failed == WrongReader.Way.allCases.count { break }
        }
        return batches
    }

    /// The device file, on its own executor.
    private actor DeviceActor {
        private var device: BankDevice?

        func take(_ reader: any TickReader, from known: Tick?, schema: Schema) async throws {
            if let device, let known {
                try device.apply(try await reader.difference(from: known), tick: reader.tick)
            } else {
                let made = try BankDevice(schema: schema)
                try await made.bootstrap(reader)
                device = made
            }
            guard let content = try device?.content() else { throw TestFailure("the device has no content") }
            if let problem = content.problem { throw TestFailure("tick \(reader.tick.number): \(problem)") }
            let truth = try await Self.truth(reader, schema)
            guard content == truth else {
                throw TestFailure("tick \(reader.tick.number): the file differs from a SELECT at that tick")
            }
        }

        /// The whole content as of the tick, as a bootstrap reads it.
        private static func truth(_ reader: any TickReader, _ schema: Schema) async throws -> BankContent {
            func values(_ name: String) async throws -> [[Value]] {
                let index = try TestModel.index(name, schema)
                let columns = Array(schema[index].columns.indices)
                let collector = BlockCollector()
                try await reader.rows(classIndex: index, matching: .constant(true), columns: columns) {
                    await collector.add($0)
                }
                return await collector.blocks.flatMap { block in
                    (0..<block.rowCount).map { row in
                        columns.indices.map { block.value(row: row, position: $0, schema: schema) }
                    }
                }
            }
            func int(_ value: Value) -> Int64? { if case .int(let number) = value { number } else { nil } }
            var content = BankContent()
            for row in try await values("Account") { content.accounts[int(row[0]) ?? -1] = int(row[1]) }
            for row in try await values("Parent") { content.parents.insert(int(row[0]) ?? -1) }
            for row in try await values("Child") {
                content.children[int(row[0]) ?? -1] = .init(title: int(row[1]) ?? -1, parent: int(row[2]))
            }
            return content
        }
    }

    // MARK: The sequencer

    @Test("Only one sequencer serves at a time, and another takes over when it resigns")
    func takeover() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let first = Sequencer(configuration: database.configuration)
        let second = Sequencer(configuration: database.configuration)
        let tick = try #require(try await first.makeTick())
        await #expect(throws: PostgresStoreError.self) { _ = try await second.makeTick() }
        try await database.pool.execute("INSERT INTO account VALUES (1, 1)")
        await first.resign()
        // The server takes a moment to notice the closed connection and release its lock.
        let held = """
            SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND relation = 'tombolo.sequencer_lock'::regclass
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        while try await database.pool.query(held)[0][0].int64 > 0 {
            try await database.pool.execute("SELECT pg_sleep(0.005)")
        }
        let next = try #require(try await second.makeTick())
        #expect(next.number == tick.number + 1)
        let difference = try await database.store.withReader { try await $0.difference(from: tick) }
        #expect(difference.changes.count == 1)
        await second.resign()
        await database.finish()
    }

    @Test("A role that owns no tables can't block the locks of the sequencer or of retention")
    func othersCannotTakeTheLocks() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let role = "service_\(UInt32.random(in: .min ... .max))"
        try await database.pool.execute(
            "CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA tombolo TO \(role); GRANT ALL ON account TO \(role)")
        var configuration = database.configuration
        configuration.user = role
        let service = try await PostgresConnection.connect(configuration)
        // The advisory locks that election used to take.
        for key in [0x746f_6d62_6f6c_6f01, 0x746f_6d62_6f6c_6f02] as [Int64] {
            try await service.query("SELECT pg_advisory_lock($1)", [.int64(key)])
        }
        try await service.execute("BEGIN")
        for name in ["sequencer_lock", "retention_lock"] {
            for sql in [
                "LOCK TABLE tombolo.\(name) IN ACCESS SHARE MODE", "LOCK TABLE tombolo.\(name) IN EXCLUSIVE MODE",
                "SELECT * FROM tombolo.\(name)", "SELECT tombolo.take_lock('\(name)')",
            ] {
                try await service.execute("SAVEPOINT before")
                await #expect {
                    try await service.execute(sql)
                } throws: { error in
                    (error as? PostgresError)?.code == .insufficientPrivilege
                }
                try await service.execute("ROLLBACK TO before")
            }
        }
        let sequencer = Sequencer(configuration: database.configuration)
        #expect(try await sequencer.makeTick() != nil)
        // Holding the lock neither blocks vacuuming nor holds a transaction ID.
        let holders = try await database.pool.query(
            """
            SELECT a.backend_xid IS NULL AND a.backend_xmin IS NULL FROM pg_locks l JOIN pg_stat_activity a USING (pid)
            WHERE l.locktype = 'relation' AND l.relation = 'tombolo.sequencer_lock'::regclass AND l.granted
            """)
        #expect(try holders.map { try $0[0].bool } == [true])
        let report = try await database.retention.run(now: Stamp(microseconds: 4_000_000_000_000_000))
        #expect(report.floor != nil)
        await sequencer.resign()
        await service.close()
        try await database.pool.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
        await database.finish()
    }

    @Test("A sequencer that has lost its lock makes no more ticks")
    func aSequencerWithoutItsLockStops() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let first = Sequencer(configuration: database.configuration)
        _ = try await first.makeTick()
        try await database.pool.query(
            """
            SELECT pg_terminate_backend(pid, 60000) FROM pg_locks
            WHERE locktype = 'relation' AND relation = 'tombolo.sequencer_lock'::regclass
            """)
        let second = Sequencer(configuration: database.configuration)
        let tick = try #require(try await second.makeTick())
        try await database.pool.execute("INSERT INTO account VALUES (1, 1)")
        await #expect(throws: (any Error).self) { _ = try await first.makeTick() }
        #expect(try await database.store.latestTick() == tick)
        await #expect(throws: PostgresStoreError.self) { _ = try await first.makeTick() }
        #expect(try await second.makeTick()?.number == tick.number + 1)
        await first.resign()
        await second.resign()
        await database.finish()
    }

    @Test("A replaced sequencer's tick is refused, even if its number is free and the sequencer still holds its lock")
    func lateTicksAreRefused() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let first = Sequencer(configuration: database.configuration)
        let tick = try #require(try await first.makeTick())
        try await database.pool.execute("INSERT INTO account VALUES (1, 1)")
        // The first thing a successor does, before it makes a tick.
        try await database.pool.execute("UPDATE tombolo.sequencer SET epoch = epoch + 1")
        await #expect {
            _ = try await first.makeTick()
        } throws: { error in
            (error as? PostgresStoreError)?.code == .notElected
        }
        #expect(try await database.store.latestTick() == tick)
        // The sequencer has given up its lock and may be elected again. The server takes a moment to release the lock of the closed
        // connection.
        while try await database.pool.query("SELECT epoch FROM tombolo.sequencer")[0, 0].int64 == 2 {
            _ = try? await first.makeTick()
            try await Task.sleep(for: .milliseconds(5))
        }
        let next = try await database.store.latestTick()
        #expect(next.number == tick.number + 1)
        #expect(try await database.pool.query("SELECT epoch FROM tombolo.sequencer")[0, 0].int64 == 3)
        await first.resign()
        await database.finish()
    }

    @Test("A tick in flight when a successor is elected is either refused or seen by the successor")
    func anElectionWaitsForTheTickUnderWay() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let first = Sequencer(configuration: database.configuration)
        let tick = try #require(try await first.makeTick())
        try await database.pool.execute("INSERT INTO account VALUES (1, 1)")
        // A successor's election, about to be committed.
        let election = try await database.connect()
        try await election.execute("BEGIN; UPDATE tombolo.sequencer SET epoch = epoch + 1")
        let late = Task { try await first.makeTick() }
        let waiting = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        while try await database.pool.query(waiting)[0, 0].int64 == 0 { try await Task.sleep(for: .milliseconds(5)) }
        try await election.execute("COMMIT")
        await #expect(throws: PostgresStoreError.self) { _ = try await late.value }
        #expect(try await database.store.latestTick() == tick)
        await election.close()
        await first.resign()
        await database.finish()
    }

    @Test("A killed sequencer is replaced, and readers see the new tick")
    func killedSequencer() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let first = Sequencer(configuration: database.configuration)
        let tick = try #require(try await first.makeTick())
        try await database.pool.execute("INSERT INTO account VALUES (1, 1)")
        let backends = """
            FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tombolo-sequencer'
            """
        try await database.pool.query("SELECT pg_terminate_backend(pid) \(backends)")
        while try await database.pool.query("SELECT count(*) \(backends)")[0][0].int64 > 0 {
            try await database.pool.execute("SELECT pg_sleep(0.005)")
        }
        let second = Sequencer(configuration: database.configuration)
        let serving = Task { await second.run() }
        let seen = try await database.withReader { reader in
            (reader.tick, try await reader.difference(from: tick).changes.count)
        }
        #expect(seen.0.number > tick.number)
        #expect(seen.1 == 1)
        await #expect(throws: (any Error).self) { _ = try await first.makeTick() }
        serving.cancel()
        await serving.value
        await first.resign()
        await database.finish()
    }

    @Test("Reading without a sequencer is an error")
    func noSequencer() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        await #expect(throws: PostgresStoreError.self) {
            try await database.store.withReader { _ in () }
        }
        await database.finish()
    }

    @Test("An announced tick survives a crash, with everything it contains")
    func durability() async throws {
        let cluster = try await TestCluster.start(fsync: true)
        let database = try await TestDatabase.make(try TestModel.schema(), on: cluster)
        for round in 0..<3 {
            let writer = try await database.connect()
            try await writer.execute("SET synchronous_commit = off")
            for item in 0..<30 { try await writer.execute("INSERT INTO account VALUES (\(round * 100 + item), 0)") }
            let seen = try await tickContent(database, try #require(try await database.store.makeTick()))
            try await cluster.kill9()
            await writer.close()
            await database.store.resign()
            try await cluster.restart()
            let tick = try await database.store.tick(seen.tick.number)
            #expect(tick == seen.tick)
            _ = try await database.store.makeTick()
            let after = try await database.store.withReader { reader in
                try await reader.count(
                    classIndex: try TestModel.index("Account", database.schema), matching: .constant(true))
            }
            #expect(after >= seen.count)
        }
        await database.finish()
        await cluster.remove()
    }

    private func tickContent(_ database: TestDatabase, _ tick: Tick) async throws -> (tick: Tick, count: Int) {
        try await database.store.withReader { reader in
            (
                reader.tick,
                try await reader.count(
                    classIndex: try TestModel.index("Account", database.schema), matching: .constant(true))
            )
        }
    }
}
