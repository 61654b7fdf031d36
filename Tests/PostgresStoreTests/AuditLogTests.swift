import Foundation
import PostgresClient
import RandomValues
import Synchronization
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

/// These tests have their own cluster: long transactions elsewhere in it would delay ticks, and with them the log. Autovacuum is
/// off because its locks would delay expiry.
private let auditCluster = Task { try await TestCluster.start(settings: ["autovacuum": "off"]) }

/// The audit log records every committed change exactly once, with the values before and after, no matter who makes it.
@Suite(.serialized) struct AuditLogTests {
    private static let day: Int64 = 86_400_000_000

    private func withDatabase(
        _ body: (TestDatabase, PostgresConnection, AuditFollower) async throws -> Void
    ) async throws {
        let database = try await TestDatabase.make(try TestModel.schema(), on: try await auditCluster.value)
        let connection = try await database.connect()
        try await body(database, connection, AuditFollower(pool: database.pool))
        await connection.close()
        await database.finish()
    }

    /// Entries about objects as text, in order: operation, source, key, before, after.
    private func entries(_ connection: PostgresConnection, _ condition: String = "e.class > 0") async throws -> [String]
    {
        try await connection.query(
            """
            SELECT concat_ws(' ', c.name, e.operation, e.source, e.key, e.before, e.after) FROM tombolo.audit_entry e \
            LEFT JOIN tombolo.class c ON c.id = e.class WHERE \(condition) ORDER BY e.at, e.id
            """
        ).map { try $0[0].string }
    }

    private func tick(_ database: TestDatabase) async throws { try await database.makeTick() }

    /// Checks that the log matches the tables and the changelog, down to the last value.
    private func check(
        _ database: TestDatabase, _ connection: PostgresConnection, since first: Int64 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await AuditVerification.run(database.schema, on: connection)
        #expect(report.incomplete.isEmpty && !report.isShortened, sourceLocation: sourceLocation)
        #expect(report.differences.isEmpty, "\(report.differences.prefix(5))", sourceLocation: sourceLocation)
        // Every change is logged once, and its old values are those that the object's previous change left.
        let broken = try await connection.query(
            """
            WITH logged AS (SELECT e.*, tombolo.audit_replay(e.operation, e.after) OVER (PARTITION BY e.class, e.key \
            ORDER BY e.at, e.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS state \
            FROM tombolo.audit_entry e WHERE e.class > 0) \
            SELECT concat_ws(' ', l.class, l.key, l.operation, l.before, l.state) FROM logged l \
            WHERE l.state IS NOT NULL AND l.operation IN ('u', 'e') AND NOT l.state @> l.before LIMIT 5
            """)
        #expect(try broken.map { try $0[0].string } == [], sourceLocation: sourceLocation)
        let counts = try await connection.query(
            """
            SELECT (SELECT sum(coalesce(cardinality(keys), 1))::bigint FROM tombolo.changelog \
            WHERE class NOT IN (0, -3) AND seq > $1), \
            (SELECT count(*) FROM tombolo.audit_entry WHERE operation NOT IN ('g', 'b')), \
            (SELECT count(*) - count(DISTINCT id) FROM tombolo.audit_entry)
            """, [.int64(first)])
        #expect(try counts[0, 0].nonNull?.int64 ?? 0 == counts[0, 1].int64, sourceLocation: sourceLocation)
        #expect(try counts[0, 2].int64 == 0, sourceLocation: sourceLocation)
    }

    @Test("every change is logged with its values before and after, even when one transaction makes several")
    func values() async throws {
        try await withDatabase { database, connection, follower in
            try await tick(database)
            try await follower.catchUp()
            try await connection.execute(
                """
                BEGIN; INSERT INTO account VALUES (1, 5); UPDATE account SET balance = 6; \
                UPDATE account SET balance = 7; COMMIT; UPDATE account SET _id = 2; DELETE FROM account
                """)
            try await tick(database)
            try await follower.catchUp()
            #expect(
                try await entries(connection) == [
                    #"Account c q 1 {"1": "1", "2": "5"}"#, #"Account u q 1 {"2": "5"} {"2": "6"}"#,
                    #"Account u q 1 {"2": "6"} {"2": "7"}"#, #"Account e q 1 {"1": "1", "2": "7"}"#,
                    #"Account c q 2 {"1": "2", "2": "7"}"#, #"Account e q 2 {"1": "2", "2": "7"}"#,
                ])
            try await check(database, connection)
        }
    }

    @Test("objects that existed before the log began form its baseline, even while they change")
    func baseline() async throws {
        try await withDatabase { database, connection, _ in
            try await connection.execute("INSERT INTO account SELECT g, g FROM generate_series(1, 100) g")
            let first = try await connection.query("SELECT last_value FROM tombolo.changelog_seq")[0, 0].int64
            try await tick(database)
            let follower = AuditFollower(pool: database.pool, limits: (5, 7))
            #expect(try await follower.step() == .added(1))
            for round in 0..<30 {
                // These changes aren't in a tick yet when the baseline continues.
                try await connection.execute(
                    """
                    UPDATE account SET balance = balance + 1000 WHERE _id % 3 = \(round % 3); \
                    DELETE FROM account WHERE _id = \(3 * round + 1); INSERT INTO account VALUES (\(200 + round), 0)
                    """)
                _ = try await follower.step()
                if round % 4 == 0 { try await tick(database) }
            }
            try await tick(database)
            try await follower.catchUp()
            try await check(database, connection, since: first)
            let known = try await connection.query(
                "SELECT count(DISTINCT key) FROM tombolo.audit_entry WHERE class = 1 AND operation IN ('b', 'e')")
            #expect(try known[0, 0].int64 == 100)
        }
    }

    @Test(
        "random changes by services and devices are each logged once, even while followers are killed",
        .timeLimit(.minutes(20)))
    func killed() async throws {
        try await withDatabase { database, connection, _ in
            try await HostileWriters.prepare(connection)
            let first = try await connection.query("SELECT last_value FROM tombolo.changelog_seq")[0, 0].int64
            let sequencer = Sequencer(configuration: database.configuration)
            let writers = HostileWriters(configuration: database.configuration, seed: 7)
            let parts = ChaosWriter(configuration: database.configuration, seed: 11)
            // A separate pool: terminating a follower's session can take effect late, when the connection already serves another
            // task.
            let followers = PostgresPool(
                configuration: database.configuration, options: TestDatabase.poolOptions)
            let device = DeviceProgress()
            _ = try await database.store.openClient(ClientID(rawValue: 5), user: "ann", acknowledged: 0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await sequencer.run() }
                // The log must have begun before the writers start; earlier changes would be part of its baseline.
                while try await connection.query("SELECT 1 FROM tombolo.tick").isEmpty {
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect(try await AuditFollower(pool: followers).step() == .added(1))
                for limits in [(40, 9), (7, 3), (1_000, 50)] {
                    let follower = AuditFollower(pool: followers, limits: limits)
                    group.addTask {
                        while !Task.isCancelled {
                            // Its session can be terminated at any moment.
                            let step = try? await follower.step()
                            if step == nil || step == .upToDate || step == .busy {
                                try? await Task.sleep(for: .milliseconds(3))
                            }
                        }
                    }
                }
                group.addTask { try await writers.run() }
                group.addTask { try await parts.run(while: { !Task.isCancelled && writers.commits < 3_000 }) }
                group.addTask { try await self.upload(database, until: device) }
                var kills: Int64 = 0
                while writers.commits < 3_000 || kills == 0 || device.uploads < 4 {
                    kills += try await connection.query(
                        """
                        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                        WHERE datname = current_database() AND query LIKE 'SELECT tombolo.audit%' AND state = 'active'
                        """)[0, 0].int64
                    try await Task.sleep(for: .milliseconds(10))
                }
                writers.stop()
                device.stop()
                try await Task.sleep(for: .milliseconds(300))
                group.cancelAll()
                while let result = await group.nextResult() {
                    if case .failure(let error) = result, !(error is CancellationError) { throw error }
                }
            }
            await followers.shutdown()
            try await tick(database)
            try await AuditFollower(pool: database.pool, limits: (200, 100)).catchUp()
            let missed = try await connection.query(
                "SELECT count(*) FROM tombolo.audit_entry WHERE operation = 'g'")
            #expect(try missed[0, 0].int64 == 1)
            try await check(database, connection, since: first)
            let devices = try await entries(connection, "e.source = 's' AND e.user_id = 'ann' AND e.client = 5")
            #expect(devices.count > 3)
        }
    }

    /// What a device has uploaded, and whether it should continue.
    private final class DeviceProgress: Sendable {
        private let count = Atomic(0), mustStop = Atomic(false)

        var uploads: Int { count.load(ordering: .relaxed) }
        var isStopped: Bool { mustStop.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
        func stop() { mustStop.store(true, ordering: .relaxed) }
    }

    /// Uploads a device's changes.
    private func upload(_ database: TestDatabase, until progress: DeviceProgress) async throws {
        let classIndex = try TestModel.index("Account", database.schema)
        var number: Int64 = 0
        while !progress.isStopped {
            number += 1
            let base = try await database.store.latestTick()
            let changeset = Changeset(
                number: number, base: base.number, stamp: base.time,
                instructions: [
                    .add(ObjectReference(classIndex: classIndex, key: .int(1 + number % 12)), column: 1, amount: 0),
                    .add(ObjectReference(classIndex: classIndex, key: .int(1 + number % 12)), column: 1, amount: 1),
                ])
            _ = try await database.upload([
                Upload(client: ClientID(rawValue: 5), changeset: changeset, permit: { _ in nil })
            ])
            progress.add()
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("the changelog keeps what the log hasn't copied, up to a limit; the log then records the gap")
    func retention() async throws {
        try await withDatabase { database, connection, follower in
            let retention = database.retention
            try await connection.execute("INSERT INTO account VALUES (1, 0)")
            try await tick(database)
            try await follower.catchUp()
            let begin = try await database.store.latestTick()
            func pass(_ days: ClosedRange<Int64>) async throws {
                for day in days {
                    let now = begin.time.microseconds + day * Self.day
                    try await connection.execute("UPDATE account SET balance = \(day)")
                    try await tick(database)
                    let newest = try await database.store.latestTick()
                    try await connection.query(
                        "UPDATE tombolo.tick SET time = $1 WHERE number = $2", [.int64(now), .int64(newest.number)])
                    for _ in 0..<3 { _ = try await retention.run(now: Stamp(microseconds: now)) }
                }
            }
            // No follower copies for as long as a device may be away, and then nearly as long again.
            try await pass(1...55)
            #expect(try await database.store.tick(begin.number) != nil)
            try await follower.catchUp()
            #expect(try await entries(connection, "e.operation = 'u'").count == 55)
            try await check(database, connection, since: 1)
            // Once the log has copied the changes, the old ticks are deleted.
            try await pass(56...58)
            #expect(try await database.store.tick(begin.number) == nil)
            let last = try await connection.query("SELECT tick FROM tombolo.audit_position")[0, 0].int64
            try await pass(59...140)
            #expect(try await database.store.tick(last) == nil)
            try await follower.catchUp()
            let gaps = try await connection.query(
                "SELECT before ->> 'tick', after ->> 'tick' FROM tombolo.audit_entry WHERE operation = 'g' ORDER BY id")
            #expect(gaps.count == 2)
            #expect(try gaps[1, 0].string == String(last))
            #expect(try gaps[1, 1].string == String(await database.store.latestTick().number))
            let report = try await AuditVerification.run(database.schema, on: connection)
            #expect(report.differences.isEmpty && report.incomplete.isEmpty)
        }
    }

    @Test("a transaction names the author of its changes; one that changes nothing logs nothing")
    func authors() async throws {
        try await withDatabase { database, connection, follower in
            try await tick(database)
            try await follower.catchUp()
            let ending = PostgresStatement(
                "SELECT tombolo.name_author($1, $2, $3, $4)",
                [.text("http"), .text("64ab"), .text("192.0.2.1"), .text("PATCH /api/{collection}/{id}")])
            try await PostgresTransactionEnding.$statement.withValue(ending) {
                try await database.pool.transaction { connection in
                    try await connection.query("INSERT INTO account VALUES (1, 0)")
                }
                try await database.pool.transaction { connection in
                    try await connection.query("UPDATE account SET balance = 0 WHERE _id = 3")
                }
                _ = try? await database.pool.transaction { connection in
                    try await connection.query("UPDATE account SET balance = 9")
                    throw TestFailure("no")
                }
            }
            try await connection.execute("SET application_name = 'other'; UPDATE account SET balance = 2")
            let rows = try await connection.query("SELECT count(*) FROM tombolo.changelog WHERE class = -3")
            #expect(try rows[0, 0].int64 == 1)
            try await tick(database)
            try await follower.catchUp()
            let found = try await connection.query(
                """
                SELECT concat_ws(' ', operation, source, user_id, address, route), role FROM tombolo.audit_entry \
                WHERE class > 0 ORDER BY at, id
                """)
            #expect(
                try found.map { try $0[0].string } == [
                    "c h 64ab 192.0.2.1 PATCH /api/{collection}/{id}", "u q",
                ])
            #expect(try found[1, 1].string == database.configuration.user)
        }
    }

    @Test("each of the many objects in one changeset has its own entry, with the device's user")
    func uploadedTogether() async throws {
        try await withDatabase { database, connection, follower in
            let device = ClientID(rawValue: 5)
            _ = try await database.store.openClient(device, user: "ann", acknowledged: 0)
            try await tick(database)
            try await follower.catchUp()
            let classIndex = try TestModel.index("Account", database.schema)
            let base = try await database.store.latestTick()
            let creates = (1...100).map { key in
                Instruction.create(
                    ObjectReference(classIndex: classIndex, key: .int(key)), [FieldWrite(column: 1, value: .int(7))])
            }
            let changeset = Changeset(number: 1, base: base.number, stamp: base.time, instructions: creates)
            _ = try await database.store.upload([Upload(client: device, changeset: changeset, permit: { _ in nil })])
            let shared = try await connection.query("SELECT count(*) FROM tombolo.changelog WHERE keys IS NOT NULL")
            #expect(try shared[0, 0].int == 4)
            try await tick(database)
            try await follower.catchUp()
            #expect(
                try await entries(connection, "e.source = 's' AND e.user_id = 'ann' AND e.client = 5").sorted()
                    == (1...100).map { #"Account c s \#($0) {"1": "\#($0)", "2": "7"}"# }.sorted())
            try await check(database, connection)
        }
    }

    @Test("a device's changes carry its IP address, even when one transaction holds several devices' changes")
    func addresses() async throws {
        try await withDatabase { database, connection, follower in
            for client in 5...7 {
                _ = try await database.store.openClient(
                    ClientID(rawValue: Int64(client)), user: "ann", acknowledged: 0)
            }
            try await tick(database)
            try await follower.catchUp()
            let classIndex = try TestModel.index("Account", database.schema)
            let base = try await database.store.latestTick()
            for (number, addresses) in [["192.0.2.1", "2001:db8::7", nil], ["198.51.100.9", nil, "192.0.2.1"]]
                .enumerated()
            {
                let uploads = addresses.enumerated().map { place, address in
                    let key = Int64(10 * (number + 1) + place)
                    let create = Instruction.create(
                        ObjectReference(classIndex: classIndex, key: .int(key)), [FieldWrite(column: 1, value: .int(7))]
                    )
                    return Upload(
                        client: ClientID(rawValue: Int64(5 + place)),
                        changeset: Changeset(
                            number: Int64(number + 1), base: base.number, stamp: base.time, instructions: [create]),
                        rights: UploadRights(permit: { _ in nil }), address: address)
                }
                #expect(try await database.store.upload(uploads) == uploads.map { _ in .applied(lost: 0) })
            }
            try await connection.execute("INSERT INTO account VALUES (30, 5)")
            try await tick(database)
            // With these limits, a transaction's changes are copied in several steps.
            try await AuditFollower(pool: database.pool, limits: (2, 7)).catchUp()
            let found = try await connection.query(
                """
                SELECT concat_ws(' ', key, client, coalesce(address, 'none')) FROM tombolo.audit_entry \
                WHERE class > 0 ORDER BY key
                """)
            #expect(
                try found.map { try $0[0].string } == [
                    "10 5 192.0.2.1", "11 6 2001:db8::7", "12 7 none", "20 5 198.51.100.9", "21 6 none",
                    "22 7 192.0.2.1", "30 none",
                ])
            try await check(database, connection)
        }
    }

    @Test("the log never holds values of secret properties, only that they changed")
    func secrets() async throws {
        try await withDatabase { database, connection, follower in
            try await connection.execute(
                """
                UPDATE tombolo.class_column SET is_secret = true WHERE name = 'slug';
                INSERT INTO note (_id, slug, text) VALUES ('a', 'hidden-0', 't')
                """)
            try await tick(database)
            try await follower.catchUp()
            try await connection.execute(
                """
                INSERT INTO note (_id, slug, text) VALUES ('b', 'hidden-1', 't'); UPDATE note SET slug = 'hidden-2' || _id;
                UPDATE note SET slug = 'hidden-3' || _id, text = 'u'; DELETE FROM note WHERE _id = 'b'
                """)
            try await tick(database)
            try await follower.catchUp()
            let all = try await connection.query(
                "SELECT e::text FROM tombolo.audit_entry e ORDER BY at, id"
            ).map { try $0[0].string }
            #expect(all.count == 8)
            #expect(!all.contains { $0.contains("hidden") })
            let changed = try await connection.query(
                "SELECT count(*) FROM tombolo.audit_entry WHERE class > 0 AND cardinality(secret) = 1")
            #expect(try changed[0, 0].int64 == 7)
            let report = try await AuditVerification.run(database.schema, on: connection)
            #expect(report.differences.isEmpty)
        }
    }

    @Test("replaying the log finds changes that it misses or records wrongly")
    func forged() async throws {
        try await withDatabase { database, connection, follower in
            try await connection.execute("INSERT INTO account SELECT g, g FROM generate_series(1, 4) g")
            try await tick(database)
            try await follower.catchUp()
            try await connection.execute(
                """
                ALTER TABLE account DISABLE TRIGGER USER; UPDATE account SET balance = 9 WHERE _id = 1; \
                DELETE FROM account WHERE _id = 2; INSERT INTO account VALUES (7, 7); \
                ALTER TABLE account ENABLE TRIGGER USER
                """)
            let report = try await AuditVerification.run(database.schema, on: connection)
            #expect(
                report.differences.map(\.description).sorted() == [
                    "Account 1 differs in balance", "Account 2 is in the log but not in the table",
                    "Account 7 is in the table but not in the log",
                ])
        }
    }

    @Test("months beyond the log's retention are dropped, and a replay reports them as missing")
    func expiry() async throws {
        try await withDatabase { database, connection, follower in
            try await tick(database)
            try await follower.catchUp()
            try await connection.execute(
                """
                SELECT tombolo.open_audit_months('2020-01-15', '2020-03-02');
                SELECT tombolo.audit_expire()
                """)
            func months() async throws -> Int {
                try await connection.query(
                    "SELECT count(*) FROM pg_inherits WHERE inhparent = 'tombolo.audit_entry'::regclass")[0, 0].int
            }
            #expect(try await months() == 4)
            try await connection.execute("INSERT INTO tombolo.audit_retention (months) VALUES (2)")
            #expect(try await connection.query("SELECT tombolo.audit_expire()")[0, 0].int64 == 3)
            #expect(try await months() == 1)
            #expect(try await AuditVerification.run(database.schema, on: connection).isShortened)
        }
    }

    @Test("months in five-digit years, which a clock set ahead creates, don't count as old")
    func expiryOfFarYears() async throws {
        try await withDatabase { database, connection, follower in
            try await tick(database)
            try await follower.catchUp()
            try await connection.execute(
                """
                SELECT tombolo.open_audit_months('10000-01-15', '10000-02-02');
                SELECT tombolo.open_audit_months('2020-01-15', '2020-01-16');
                INSERT INTO tombolo.audit_retention (months) VALUES (2)
                """)
            #expect(try await connection.query("SELECT tombolo.audit_expire()")[0, 0].int64 == 1)
            for name in ["audit_entry_10000_01", "audit_entry_10000_02"] {
                let isThere = try await connection.query("SELECT to_regclass('tombolo.\(name)') IS NOT NULL")[0, 0].bool
                #expect(isThere, "\(name)")
            }
        }
    }

    @Test("a clock set ahead by decades creates no partitions for months without changes")
    func leap() async throws {
        try await withDatabase { database, connection, follower in
            try await tick(database)
            try await follower.catchUp()
            for id in 1...2 {
                try await connection.execute("INSERT INTO account VALUES (\(id), 5)")
                try await tick(database)
            }
            try await connection.execute(
                """
                UPDATE tombolo.tick SET time = time + 50 * 365 * \(Self.day)
                WHERE number = (SELECT max(number) FROM tombolo.tick)
                """)
            try await follower.catchUp()
            let months = try await connection.query(
                """
                SELECT count(*), (SELECT count(*) FROM tombolo.audit_entry e WHERE e.at > now() + interval '40 years')
                FROM pg_inherits WHERE inhparent = 'tombolo.audit_entry'::regclass
                """)
            // Three if a new month begins during the test.
            #expect((2...3).contains(try months[0, 0].int))
            #expect(try months[0, 1].int == 1)
        }
    }

    @Test("a month that a session is reading doesn't stop the other old months from being dropped")
    func expiryBesideReader() async throws {
        try await withDatabase { database, connection, follower in
            try await tick(database)
            try await follower.catchUp()
            try await connection.execute(
                """
                SELECT tombolo.open_audit_months('2020-01-15', '2020-03-02');
                INSERT INTO tombolo.audit_retention (months) VALUES (2)
                """)
            let reader = try await database.connect()
            try await reader.execute("BEGIN; LOCK TABLE ONLY tombolo.audit_entry_2020_01 IN ACCESS SHARE MODE")
            #expect(try await connection.query("SELECT tombolo.audit_expire()")[0, 0].int64 == 2)
            let left = try await connection.query("SELECT to_regclass('tombolo.audit_entry_2020_01') IS NOT NULL")
            #expect(try left[0, 0].bool)
            let error = await #expect(throws: PostgresError.self) {
                try await connection.query("SELECT tombolo.audit_expire()")
            }
            #expect(error?.code == .lockNotAvailable)
            try await reader.execute("COMMIT")
            #expect(try await connection.query("SELECT tombolo.audit_expire()")[0, 0].int64 == 1)
            await reader.close()
        }
    }
}
