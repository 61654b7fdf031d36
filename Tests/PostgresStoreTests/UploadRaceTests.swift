import Foundation
import PostgresClient
import ServerStoreConformance
import Synchronization
import RandomValues
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

/// Concurrent uploads: locks that they wait for, the same upload twice, killed connections.
@Suite(.serialized) struct UploadRaceTests: UploadingSuite {
    @Test("A later SQL edit wins even if it commits after the upload began")
    func lockedRow() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO parent VALUES (1, 'x')")
            let base = try #require(try await database.store.makeTick())
            let stamped = upload(
                ada, 1, base: base,
                .set(
                    try reference(database, "Parent", .int(1)),
                    [FieldWrite(column: 1, value: .string("device, earlier"))]))
            try await connection.execute("BEGIN; UPDATE parent SET name = 'psql, later'")
            async let results = database.upload([stamped])
            try await waitForLock(database)
            try await connection.execute("COMMIT")
            #expect(try await results == [.applied(lost: 1)])
            #expect(try await connection.query("SELECT name FROM parent")[0][0].string == "psql, later")
        }
    }

    /// Waits until a session in the database waits for a lock.
    private func waitForLock(_ database: TestDatabase) async throws {
        let observer = try await database.connect()
        while try await observer.query(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )[0][0].int64 == 0 {
            try await observer.execute("SELECT pg_sleep(0.005)")
        }
        await observer.close()
    }

    @Test("Concurrent uploads of the same changesets take effect once")
    func duplicates() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO account VALUES (1, 0)")
            let base = try #require(try await database.store.makeTick())
            let target = try reference(database, "Account", .int(1))
            let uploads = (1...20).map { upload(ada, Int64($0), base: base, .add(target, column: 1, amount: 1)) }
            try await withThrowingTaskGroup { group in
                for _ in 0..<6 { group.addTask { _ = try await database.upload(uploads) } }
                try await group.waitForAll()
            }
            #expect(try await connection.query("SELECT balance FROM account")[0][0].int64 == 20)
        }
    }

    @Test("Uploads repeated after killed backends lose nothing and double nothing")
    func killedBackends() async throws {
        let seed = UInt64.random(in: 0...UInt64.max >> 1)
        print("seed of the kills: \(seed)")
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO account SELECT g, 0 FROM generate_series(1, 5) g")
            let base = try #require(try await database.store.makeTick())
            let classIndex = try TestModel.index("Account", database.schema)
            let isDone = Atomic<Bool>(false)
            let kills = Atomic<Int>(0)
            let ended = Atomic<Int>(0)
            let killing = Task {
                var random = SeededGenerator(seed: seed)
                let killer = try await database.connect()
                let shortPause = 0.05
                var pause = shortPause
                var known = 0
                while !isDone.load(ordering: .relaxed) {
                    let killed = try await killer.query(
                        """
                        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                        WHERE datname = current_database() AND application_name = 'tombolo' AND pid <> pg_backend_pid()
                        """)
                    kills.add(Int(try killed[0][0].int64), ordering: .relaxed)
                    // On a machine so slow that no upload ends between two kills, the pause grows.
                    let now = ended.load(ordering: .relaxed)
                    pause = now == known ? pause * 1.5 : shortPause
                    known = now
                    try await killer.execute("SELECT pg_sleep(\(Double.random(in: 0...pause, using: &random)))")
                }
                await killer.close()
            }
            var expected: [Int64: Int64] = [:]
            var random = SeededGenerator(seed: seed &+ 1)
            var numbers: [ClientID: Int64] = [:]
            var rounds = 0
            while rounds < 40 || kills.load(ordering: .relaxed) == 0 {
                rounds += 1
                var group: [Upload] = []
                for client in [ada, bob] {
                    for _ in 0..<Int.random(in: 1...8, using: &random) {
                        let number = (numbers[client] ?? 0) + 1
                        numbers[client] = number
                        let account = Int64.random(in: 1...5, using: &random)
                        let amount = Int64.random(in: 1...100, using: &random)
                        expected[account, default: 0] += amount
                        group.append(
                            upload(
                                client, number, base: base,
                                .add(
                                    ObjectReference(classIndex: classIndex, key: .int(account)), column: 1,
                                    amount: amount)))
                    }
                }
                // Sends again until the outcome is known, as a session does.
                var isKnown = false
                while !isKnown {
                    do {
                        for result in try await database.store.upload(group) {
                            switch result {
                            case .applied, .duplicate: break
                            default: throw TestFailure("an upload ended as \(result)")
                            }
                        }
                        isKnown = true
                        ended.add(1, ordering: .relaxed)
                    } catch let error as PostgresError where error.isRetryable {
                    } catch let unfinished as UnfinishedUploads {
                        for case let cause as PostgresError in unfinished.causes.values where !cause.isRetryable {
                            throw cause
                        }
                    }
                }
            }
            isDone.store(true, ordering: .relaxed)
            try await killing.value
            print("\(kills.load(ordering: .relaxed)) backends were killed in \(rounds) rounds")
            let observer = try await database.connect()
            for row in try await observer.query("SELECT _id, balance FROM account") {
                #expect(try row[1].int64 == expected[try row[0].int64] ?? 0)
            }
            for (client, number) in numbers {
                let last = try await observer.query(
                    "SELECT last FROM tombolo.client WHERE id = $1", [.int64(client.rawValue)])
                #expect(try last[0][0].int64 == number)
            }
            let doubled = try await observer.query(
                """
                SELECT count(*) FROM (SELECT client, number FROM tombolo.changelog \
                WHERE class <> 0 AND client IS NOT NULL \
                GROUP BY client, number HAVING count(*) > 1) AS d
                """)
            #expect(try doubled[0][0].int64 == 0)
            await observer.close()
        }
    }

    @Test("A lock timeout is a retryable error, never a refusal")
    func lockTimeout() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO account VALUES (1, 0)")
            let base = try #require(try await database.store.makeTick())
            try await connection.execute("BEGIN; UPDATE account SET balance = 1")
            var configuration = database.configuration
            configuration.settings = ["lock_timeout": "30ms"]
            let store = try await PostgresServerStore.open(
                schema: database.schema,
                pool: PostgresPool(configuration: configuration, options: TestDatabase.poolOptions))
            let change = upload(
                ada, 1, base: base, .add(try reference(database, "Account", .int(1)), column: 1, amount: 5))
            do {
                let results = try await store.upload([change])
                Issue.record("\(results)")
            } catch let error as PostgresError {
                #expect(error.code == .lockNotAvailable)
            }
            try await connection.execute("COMMIT")
            // Plain SQL set the balance after the device had added to it.
            #expect(try await store.upload([change]) == [.applied(lost: 1)])
            await store.pool.shutdown()
        }
    }

    @Test("a changeset that waits too long for a row doesn't affect other clients' outcomes")
    func stuckClient() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO account VALUES (1, 0), (2, 0)")
            let base = try #require(try await database.store.makeTick())
            let held = try reference(database, "Account", .int(1))
            let free = try reference(database, "Account", .int(2))
            let uploads = [
                upload(ada, 1, base: base, .add(free, column: 1, amount: 1)),
                upload(ada, 2, base: base, .add(held, column: 1, amount: 10)),
                upload(ada, 3, base: base, .add(free, column: 1, amount: 100)),
                upload(bob, 1, base: base, .add(free, column: 1, amount: 1_000)),
            ]
            try await connection.execute("BEGIN; SELECT FROM account WHERE _id = 1 FOR UPDATE")
            let unfinished = await #expect(throws: UnfinishedUploads.self) {
                try await database.store.upload(uploads)
            }
            #expect(unfinished?.results == [.applied(lost: 0), nil, nil, .applied(lost: 0)])
            let cause = unfinished?.causes[ada] as? PostgresError
            #expect(unfinished?.causes.count == 1 && cause?.code == .lockNotAvailable)
            try await connection.execute("COMMIT")
            #expect(
                try await database.upload(uploads) == [
                    .duplicate, .applied(lost: 0), .applied(lost: 0), .duplicate,
                ])
            let balances = try await connection.query("SELECT balance FROM account ORDER BY _id")
            #expect(try balances.map { try $0[0].int64 } == [10, 1_101])
        }
    }

    @Test("Once a changeset has waited too long for a row, those behind it in the group give up soon")
    func hurry() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                INSERT INTO account VALUES (1, 0), (2, 0);
                CREATE TABLE patience (id serial, setting text);
                CREATE FUNCTION note_patience() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
                    BEGIN INSERT INTO public.patience (setting) VALUES (current_setting('lock_timeout')); RETURN NEW; END $$;
                CREATE TRIGGER note_patience BEFORE UPDATE ON account FOR EACH ROW EXECUTE FUNCTION note_patience()
                """)
            let base = try #require(try await database.store.makeTick())
            let held = try reference(database, "Account", .int(1))
            let free = try reference(database, "Account", .int(2))
            try await connection.execute("BEGIN; SELECT FROM account WHERE _id = 1 FOR UPDATE")
            await #expect(throws: UnfinishedUploads.self) {
                try await database.store.upload([
                    upload(bob, 1, base: base, .add(free, column: 1, amount: 1)),
                    upload(ada, 1, base: base, .add(held, column: 1, amount: 1)),
                    upload(bob, 2, base: base, .add(free, column: 1, amount: 1)),
                ])
            }
            try await connection.execute("COMMIT")
            let settings = try await connection.query("SELECT setting FROM patience ORDER BY id")
            #expect(try settings.map { try $0[0].string } == ["3s", "500ms"])
        }
    }

    /// Waits until a transaction has waited for a lock for longer than a group would, so that it must belong to a single changeset.
    private func waitForLoneTransaction(_ database: TestDatabase) async throws {
        let patience = PostgresServerStore.lockTimeouts.together * 2 / .seconds(1)
        let observer = try await database.connect()
        while try await observer.query(
            """
            SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
            AND xact_start < clock_timestamp() - make_interval(secs => $1)
            """, [.double(patience)]
        ).isEmpty {
            try await observer.execute("SELECT pg_sleep(0.005)")
        }
        await observer.close()
    }

    @Test("A link to an object being deleted concurrently becomes nil, and nothing is refused")
    func deletedAtOnce() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO parent VALUES (1, 'x')")
            let base = try #require(try await database.store.makeTick())
            try await connection.execute("BEGIN; DELETE FROM parent")
            let child = upload(
                ada, 1, base: base,
                .create(
                    try reference(database, "Child", .int(1)),
                    [FieldWrite(column: 1, value: .int(7)), FieldWrite(column: 2, value: .int(1))]))
            let result = Task { try await database.upload([child]) }
            try await waitForLoneTransaction(database)
            try await connection.execute("COMMIT")
            let outcome = try await result.value
            guard case .applied(_, let refusals) = outcome[0] else { throw TestFailure("\(outcome)") }
            #expect(refusals.isEmpty, "\(refusals)")
            let row = try await connection.query("SELECT title, parent IS NULL FROM child")[0]
            #expect(try row[0].int64 == 7 && row[1].bool)
        }
    }

    @Test("An upload merges with an object being created concurrently, however long that takes")
    func madeAtOnce() async throws {
        try await withDatabase { database, connection in
            let base = try #require(try await database.store.makeTick())
            let target = try reference(database, "Account", .int(1))
            try await connection.execute("BEGIN; INSERT INTO account VALUES (1, 4)")
            let change = upload(
                ada, 1, base: base, after: 3_600_000_000, .create(target, [FieldWrite(column: 1, value: .int(7))]))
            let result = Task { try await database.upload([change]) }
            try await waitForLoneTransaction(database)
            try await connection.execute("COMMIT")
            let outcome = try await result.value
            guard case .applied(_, let refusals) = outcome[0] else { throw TestFailure("\(outcome)") }
            #expect(refusals.isEmpty, "\(refusals)")
            #expect(try await connection.query("SELECT balance FROM account")[0][0].int64 == 7, "the later should win")
        }
    }
}
