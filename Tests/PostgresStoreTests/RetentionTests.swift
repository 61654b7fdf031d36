import PostgresClient
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore
import TomboloSyncProtocol
import TomboloSyncSession

/// These tests have their own cluster: transactions in other databases delay retention, just as they hold back ticks' lower bounds.
/// Autovacuum is off because its transactions would do the same, and its locks would stop impatient writers and sessions that drop
/// partitions.
private let retentionCluster = Task { try await TestCluster.start(settings: ["autovacuum": "off"]) }

/// Retention with an injected clock: it drops data that nobody needs and never blocks a writer.
@Suite(.serialized, .serverLog(of: { try await retentionCluster.value })) struct RetentionTests {
    private static let day: Int64 = 86_400_000_000

    private func makeDatabase() async throws -> TestDatabase {
        try await TestDatabase.make(try TestModel.schema(), on: try await retentionCluster.value)
    }

    /// A writer that fails instead of waiting for a lock.
    private func impatientWriter(_ database: TestDatabase) async throws -> PostgresConnection {
        let writer = try await database.connect()
        try await writer.execute("SET lock_timeout = '1ms'")
        return writer
    }

    private func generations(_ connection: PostgresConnection) async throws -> [String] {
        try await connection.query(
            """
            SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid \
            WHERE i.inhparent = 'tombolo.changelog'::regclass ORDER BY 1
            """
        ).map { try $0[0].string }
    }

    @Test("a due run begins within seconds, in one process only, which records when it ran and what it did")
    func askedFor() async throws {
        let database = try await makeDatabase()
        let retention = database.retention
        func due() async throws {
            try await database.pool.query("UPDATE tombolo.routine SET next_at = clock_timestamp()")
        }
        /// Waits until a run that began after `start` has ended, and returns when it began.
        func ended(after start: Int64) async throws -> Int64 {
            let deadline = ContinuousClock.now + .seconds(600)
            while true {
                let found = try await database.pool.query(
                    "SELECT started_at FROM tombolo.routine WHERE finished_at >= started_at AND problem IS NULL")
                if let row = found.first, case let time = try row[0].timestampMicroseconds, time > start { return time }
                try #require(ContinuousClock.now < deadline, "no run after \(start)")
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        let loop = Task { await retention.runPeriodically(in: database.pool) { Stamp(microseconds: Self.day) } }
        let first = try await ended(after: 0)
        try await due()
        _ = try await ended(after: first)
        loop.cancel()
        await loop.value
        let found = try await database.pool.query(
            """
            SELECT name, result, problem IS NULL, finished_at >= started_at,
                next_at - finished_at = make_interval(secs => $1), messages -> 0 ->> 'message' FROM tombolo.routine
            """, [.double(Double(ChangelogRetention.interval.components.seconds))])
        let routine = Routine.changelogRetention
        #expect(found.count == 1)
        #expect(try found[0, 0].string == routine.rawValue)
        #expect(try found[0, 1].string.contains("nothing is old enough"))
        for column in 2...4 { #expect(try found[0, column].bool, "\(column)") }
        #expect(try found[0, 5].string == "nothing is old enough")

        #expect(try await !routine.take(pause: ChangelogRetention.interval, in: database.pool))
        try await due()
        let takers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask { try await routine.take(pause: ChangelogRetention.interval, in: database.pool) }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(takers == 1)
        // A time recorded while the database's clock was wrong.
        try await database.pool.query("UPDATE tombolo.routine SET next_at = clock_timestamp() + interval '1 year'")
        #expect(try await routine.take(pause: ChangelogRetention.interval, in: database.pool))
        #expect(try await !routine.take(pause: ChangelogRetention.interval, in: database.pool))
        await database.finish()
    }

    @Test("Changelog partitions rotate daily and are dropped after the retention period")
    func rotation() async throws {
        let database = try await makeDatabase()
        let writer = try await impatientWriter(database)
        let retention = database.retention
        try await writer.execute("INSERT INTO account VALUES (1, 0)")
        let first = try #require(try await database.store.makeTick())
        var now = first.time.microseconds
        var dropped: [Int64] = []
        var opened: [Int64] = []
        for day in 0..<40 {
            now += Self.day
            try await writer.execute("UPDATE account SET balance = balance + 1")
            let tick = try #require(try await database.store.makeTick())
            // Shifts the database's times, so that days pass quickly.
            try await writer.query(
                "UPDATE tombolo.tick SET time = $1 WHERE number = $2", [.int64(now), .int64(tick.number)])
            var report: ChangelogRetention.Report
            var runs = 0
            repeat {
                runs += 1
                // A step that others block is left for the next run.
                report = try await retention.run(now: Stamp(microseconds: now))
                dropped += report.droppedGenerations
                if let generation = report.openedGeneration { opened.append(generation) }
            } while report.isWaiting && runs < 100
            try await writer.execute("UPDATE account SET balance = balance + 1")
            if day < 28 { #expect(report.floor == nil || report.floor == first.number) }
        }
        #expect(opened == Array(1...40).map(Int64.init))
        #expect(dropped.count > 5 && dropped.count < 15, "\(dropped)")
        #expect(dropped == Array(0..<Int64(dropped.count)))
        #expect(try await database.store.tick(first.number) == nil)
        // The remaining ticks still give complete differences.
        let oldest = try await writer.query("SELECT min(number) FROM tombolo.tick")
        let base = try #require(try await database.store.tick(try oldest[0][0].int64))
        _ = try await database.store.makeTick()
        let difference = try await database.store.withReader { try await $0.difference(from: base) }
        let account = try #require(difference.changes.first)
        guard case .int(let new)? = account.new?[1], case .int(let old)? = account.old?[1] else {
            Issue.record("no balances in \(account)")
            return
        }
        #expect(new == 80)
        // Two updates a day for the last thirty days.
        #expect(old == new - 1 - 2 * 30 || old == new - 2 * 30, "\(old)")
        await writer.close()
        await database.finish()
    }

    @Test("A changeset made before its device had a tick needs a new base once the changelog has a floor")
    func originBelowTheFloor() async throws {
        let database = try await makeDatabase()
        let connection = try await database.connect()
        let client = ClientID(rawValue: 1)
        let classIndex = try TestModel.index("Account", database.schema)
        _ = try await database.store.openClient(client, user: "u", acknowledged: 0)
        try await connection.execute("INSERT INTO account VALUES (1, 0)")
        let first = try #require(try await database.store.makeTick())
        func upload(_ number: Int64, base: Int64) async throws -> [UploadResult] {
            let changeset = Changeset(
                number: number, base: base, stamp: first.time,
                instructions: [.add(ObjectReference(classIndex: classIndex, key: .int(1)), column: 1, amount: 1)])
            return try await database.store.upload([
                Upload(client: client, changeset: changeset, permit: { _ in nil })
            ])
        }
        #expect(try await upload(1, base: 0) == [.applied(lost: 0)])
        let retention = database.retention
        let report = try await retention.run(now: Stamp(microseconds: first.time.microseconds + 31 * Self.day))
        // The changes that this tick sees are dropped with the next partition.
        #expect(report.floor == first.number)
        #expect(try await upload(2, base: 0) == [.unknownBase])
        #expect(try await upload(2, base: first.number) == [.applied(lost: 0)])
        #expect(try await connection.query("SELECT balance FROM account")[0][0].int == 2)
        await connection.close()
        await database.finish()
    }

    @Test("Acknowledged receipts are deleted after the retention period")
    func receipts() async throws {
        let database = try await makeDatabase()
        let connection = try await database.connect()
        let client = ClientID(rawValue: 1)
        let classIndex = try TestModel.index("Account", database.schema)
        _ = try await database.store.openClient(client, user: "u", acknowledged: 0)
        try await connection.execute("INSERT INTO account VALUES (1, 0)")
        let base = try #require(try await database.store.makeTick())
        func add(_ number: Int64) -> Upload {
            Upload(
                client: client,
                changeset: Changeset(
                    number: number, base: base.number, stamp: base.time,
                    instructions: [
                        .add(ObjectReference(classIndex: classIndex, key: .int(1)), column: 1, amount: number)
                    ]), permit: { _ in nil })
        }
        _ = try await database.store.upload([add(1), add(2)])
        _ = try await database.store.openClient(client, user: "u", acknowledged: 1)
        let retention = database.retention
        for (days, expected) in [(29, [1, 2]), (31, [2])] as [(Int64, [Int64])] {
            _ = try await retention.run(now: Stamp(microseconds: base.time.microseconds + days * Self.day))
            let numbers = try await connection.query("SELECT number FROM tombolo.receipt ORDER BY number")
            #expect(try numbers.map { try $0[0].int64 } == expected)
        }
        // Without its receipt, the server can't tell whether the changeset is the same.
        #expect(try await database.store.upload([add(1)]) == [.conflict])
        #expect(try await database.store.upload([add(2)]) == [.duplicate])
        await connection.close()
        await database.finish()
    }

    @Test("A client that acknowledges nothing keeps only its newest receipts")
    func receiptsOfOneClientAreBounded() async throws {
        let database = try await makeDatabase()
        let connection = try await database.connect()
        let limit = StoreLimits.receiptsPerClient
        try await connection.execute(
            """
            INSERT INTO tombolo.client (id, user_id, last) VALUES (1, 'u', \(limit + 7)), (2, 'u', 3);
            INSERT INTO tombolo.receipt (client, number, hash) SELECT 1, g, 0 FROM generate_series(1, \(limit + 7)) g;
            INSERT INTO tombolo.receipt (client, number, hash) SELECT 2, g, 0 FROM generate_series(1, 3) g
            """)
        let now = try #require(try await database.store.makeTick()).time
        _ = try await database.retention.run(now: now)
        let left = try await connection.query(
            "SELECT client, count(*), min(number) FROM tombolo.receipt GROUP BY 1 ORDER BY 1")
        #expect(try left.map { [try $0[0].int64, try $0[1].int64, try $0[2].int64] } == [[1, limit, 8], [2, 3, 1]])
        await connection.close()
        await database.finish()
    }

    @Test(
        "A device that comes back within the retention period loses nothing; after it, it's forgotten with its set-aside changesets"
    )
    func devicesAreForgotten() async throws {
        let database = try await makeDatabase()
        let connection = try await database.connect()
        let (away, present) = (ClientID(rawValue: 1), ClientID(rawValue: 2))
        let classIndex = try TestModel.index("Account", database.schema)
        for client in [away, present] { _ = try await database.store.openClient(client, user: "u", acknowledged: 0) }
        try await connection.execute("INSERT INTO account VALUES (1, 0)")
        let base = try #require(try await database.store.makeTick())
        func add(_ client: ClientID, _ number: Int64) -> Upload {
            Upload(
                client: client,
                changeset: Changeset(
                    number: number, base: base.number, stamp: base.time,
                    instructions: [.add(ObjectReference(classIndex: classIndex, key: .int(1)), column: 1, amount: 1)]),
                permit: { _ in nil })
        }
        _ = try await database.store.upload([add(away, 1), add(present, 1)])
        try await connection.execute(
            """
            INSERT INTO tombolo.set_aside (client, number, sqlstate, message, changeset)
            VALUES (1, 1, 'P0001', 'no', '{}')
            """)
        let retention = ChangelogRetention(
            configuration: database.configuration, retention: .seconds(30 * 86_400),
            deviceRetention: .seconds(60 * 86_400), stepTimeout: .seconds(600))
        func run(after days: Int64) async throws {
            _ = try await retention.run(now: Stamp(microseconds: base.time.microseconds + days * Self.day))
        }
        try await run(after: 59)
        #expect(try await database.store.upload([add(away, 1)]) == [.duplicate])
        #expect(try await connection.query("SELECT count(*) FROM tombolo.set_aside")[0][0].int64 == 1)

        // One device was seen yesterday; the other never came back.
        try await connection.query(
            "UPDATE tombolo.client SET seen_at = to_timestamp($1 / 1000000.0) WHERE id = 2",
            [.int64(base.time.microseconds + 60 * Self.day)])
        try await run(after: 61)
        #expect(try await connection.query("SELECT id FROM tombolo.client").map { try $0[0].int64 } == [2])
        #expect(try await connection.query("SELECT client FROM tombolo.receipt").map { try $0[0].int64 } == [2])
        #expect(try await connection.query("SELECT count(*) FROM tombolo.set_aside")[0][0].int64 == 0)
        #expect(try await database.store.openClient(away, user: "u", acknowledged: 1).mustReset != nil)
        #expect(try await database.store.upload([add(present, 1)]) == [.duplicate])
        #expect(try await connection.query("SELECT balance FROM account")[0][0].int64 == 2)
        await connection.close()
        await database.finish()
    }

    @Test("A session or an upload marks a device as seen")
    func devicesAreSeen() async throws {
        let database = try await makeDatabase()
        let connection = try await database.connect()
        let client = ClientID(rawValue: 1)
        let seenRecently = "SELECT seen_at > clock_timestamp() - interval '1 hour' FROM tombolo.client"
        let forget = "UPDATE tombolo.client SET seen_at = clock_timestamp() - interval '2 days'"
        _ = try await database.store.openClient(client, user: "u", acknowledged: 0)
        try await connection.execute(forget)
        _ = try await database.store.openClient(client, user: "u", acknowledged: 0)
        #expect(try await connection.query(seenRecently)[0][0].bool)
        try await connection.execute(forget)
        let changeset = Changeset(number: 1, base: 0, stamp: Stamp(microseconds: 1), instructions: [])
        _ = try await database.store.upload([Upload(client: client, changeset: changeset, permit: { _ in nil })])
        #expect(try await connection.query(seenRecently)[0][0].bool)
        await connection.close()
        await database.finish()
    }

    @Test("A long transaction delays only the rotation, and its changes aren't lost")
    func longTransaction() async throws {
        let database = try await makeDatabase()
        let retention = database.retention
        let connection = try await database.connect()
        try await connection.execute("INSERT INTO account VALUES (1, 0), (2, 0), (3, 0)")
        let base = try #require(try await database.store.makeTick())
        var now = base.time.microseconds
        let long = try await database.connect()
        let writer = try await impatientWriter(database)
        try await long.execute("BEGIN; UPDATE account SET balance = 100 WHERE _id = 1")
        for _ in 0..<5 {
            now += 20 * Self.day
            let report = try await retention.run(now: Stamp(microseconds: now))
            // At most one partition is opened: the one that was attached before the long transaction began.
            #expect(report.droppedGenerations == [])
            try await writer.execute("UPDATE account SET balance = balance + 1 WHERE _id = 2")
            let tick = try #require(try await database.store.makeTick())
            try await connection.query(
                "UPDATE tombolo.tick SET time = $1 WHERE number = $2", [.int64(now), .int64(tick.number)])
            // The long transaction writes to whichever partition is in use now.
            try await long.execute("UPDATE account SET balance = balance + 1 WHERE _id = 1")
        }
        let before = try await database.store.latestTick()
        try await long.execute("COMMIT")
        _ = try #require(try await database.store.makeTick())
        let difference = try await database.store.withReader { try await $0.difference(from: before) }
        let change = try #require(difference.changes.first { $0.reference.key == .int(1) })
        #expect(change.old?[1] == .int(0))
        #expect(change.new?[1] == .int(105))
        // From here on, partitions rotate again.
        var openings = 0
        var reports: [ChangelogRetention.Report] = []
        for _ in 0..<12 where openings < 4 {
            now += 20 * Self.day
            reports.append(try await retention.run(now: Stamp(microseconds: now)))
            if reports.last?.openedGeneration != nil { openings += 1 }
            try await writer.execute("UPDATE account SET balance = balance + 1 WHERE _id = 2")
        }
        #expect(openings == 4, "\(reports)")
        for item in [connection, long, writer] { await item.close() }
        await database.finish()
    }

    @Test("Writers keep working, and nothing is lost, for 35 days without a sequencer")
    func noSequencer() async throws {
        let database = try await makeDatabase()
        let retention = database.retention
        let writer = try await impatientWriter(database)
        let base = try #require(try await database.store.makeTick())
        await database.store.resign()
        var now = base.time.microseconds
        // First 35 days with retention but no ticks.
        for day in 0..<35 {
            now += Self.day
            _ = try await retention.run(now: Stamp(microseconds: now))
            try await writer.execute(
                "INSERT INTO account SELECT g, 0 FROM generate_series(\(day * 100), \(day * 100 + 99)) g")
        }
        // Then a time with neither.
        try await writer.execute("UPDATE account SET balance = 1")
        _ = try await database.store.makeTick()
        let known = try #require(try await database.store.tick(base.number))
        let difference = try await database.store.withReader { try await $0.difference(from: known) }
        #expect(difference.changes.count == 3_500)
        await writer.close()
        await database.finish()
    }

    @Test("A failed run has released its lock by the time it throws")
    func failedRun() async throws {
        let database = try await makeDatabase()
        let other = try await database.connect()
        try await other.execute("ALTER TABLE tombolo.receipt RENAME TO receipts")
        // Repeated, since a single time PostgreSQL might happen to notice the closed connection quickly.
        for _ in 0..<30 {
            await #expect(throws: PostgresError.self) {
                try await database.retention.run(now: Stamp(microseconds: Self.day))
            }
            try #require(try await ServiceLock.retention.take(other))
            await ServiceLock.release(other)
        }
        await other.close()
        await database.finish()
    }

    @Test("An interrupted detach of a partition is finished later")
    func interruptedDetach() async throws {
        let database = try await makeDatabase()
        let retention = database.retention
        let writer = try await impatientWriter(database)
        try await writer.execute("INSERT INTO account VALUES (1, 0)")
        var now = try #require(try await database.store.makeTick()).time.microseconds
        for _ in 0..<3 {
            now += Self.day
            _ = try await retention.run(now: Stamp(microseconds: now))
            try await writer.execute("UPDATE account SET balance = balance + 1")
            _ = try await database.store.makeTick()
        }
        // A reader in a long transaction makes the detach wait.
        let reader = try await database.connect()
        try await reader.execute("BEGIN; SELECT count(*) FROM tombolo.changelog")
        now += 40 * Self.day
        #expect(try await retention.run(now: Stamp(microseconds: now)).droppedGenerations == [])
        now += Self.day
        let waiting = try await retention.run(now: Stamp(microseconds: now))
        #expect(waiting.isWaiting)
        #expect(waiting.droppedGenerations == [])
        try await writer.execute("UPDATE account SET balance = balance + 1")
        try await reader.execute("COMMIT")
        // Finishing the detach waits for older snapshots, including the sequencer's.
        await database.store.resign()
        now += Self.day
        var dropped: [Int64] = []
        for _ in 0..<100 {
            let report = try await retention.run(now: Stamp(microseconds: now))
            dropped += report.droppedGenerations
            // A step that others block is left for the next run.
            guard report.isWaiting else { break }
        }
        #expect(dropped.first == 0)
        #expect(try await generations(writer).contains("changelog_0") == false)
        try await writer.execute("UPDATE account SET balance = balance + 1")
        await reader.close()
        await writer.close()
        await database.finish()
    }
}
