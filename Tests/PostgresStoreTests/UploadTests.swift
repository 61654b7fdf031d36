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

/// What only a real PostgreSQL does to an upload: waits, kills, others' triggers, the trash.
@Suite(.serialized) struct UploadTests {
    private let ada = ClientID(rawValue: 11)
    private let bob = ClientID(rawValue: 22)

    private func withDatabase(_ body: (TestDatabase, PostgresConnection) async throws -> Void) async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        for client in [ada, bob] {
            _ = try await database.store.openClient(client, user: "u\(client)", acknowledged: 0)
        }
        try await body(database, connection)
        await connection.close()
        await database.finish()
    }

    private func upload(
        _ client: ClientID, _ number: Int64, base: Tick, after microseconds: Int64 = 1, _ instructions: Instruction...
    ) -> Upload {
        Upload(
            client: client,
            changeset: Changeset(
                number: number, base: base.number,
                stamp: Stamp(microseconds: base.time.microseconds + microseconds), instructions: instructions),
            permit: { _ in nil })
    }

    private func reference(_ database: TestDatabase, _ name: String, _ key: Value) throws -> ObjectReference {
        ObjectReference(classIndex: try TestModel.index(name, database.schema), key: key)
    }

    private func note(_ key: String, slug: String, text: String = "") -> [FieldWrite] {
        [
            FieldWrite(column: 1, value: .string(slug)), FieldWrite(column: 2, value: .string(text)),
            FieldWrite(column: 3, value: .null),
        ]
    }

    // MARK: Many objects

    @Test(
        "Of many new objects, those that were deleted since the base stay deleted, however many that are",
        arguments: [1, LockPlan.maximumErasureCount + 5])
    func manyCreates(erasedCount: Int) async throws {
        try await withDatabase { database, connection in
            try await connection.query(
                "INSERT INTO account SELECT n, 7 FROM generate_series(1, $1) n", [.int64(Int64(erasedCount))])
            let old = try #require(try await database.store.makeTick())
            try await connection.execute("DELETE FROM account")
            let new = try #require(try await database.store.makeTick())
            let count = LockPlan.erasuresFirstCount * 2
            // The first is among the deleted ones, the last isn't.
            let keys = [1] + (10_001..<10_000 + count).map { $0 }
            func create(_ client: ClientID, base: Tick, from first: Int) throws -> Upload {
                let instructions = try keys.map { key in
                    Instruction.create(
                        try reference(database, "Account", .int(Int64(key == 1 ? 1 : key + first))),
                        [FieldWrite(column: 1, value: .int(5))])
                }
                return Upload(
                    client: client,
                    changeset: Changeset(
                        number: 1, base: base.number, stamp: Stamp(microseconds: new.time.microseconds + 1),
                        instructions: instructions), permit: { _ in nil })
            }
            #expect(try await database.store.upload([create(ada, base: old, from: 0)]) == [.applied(lost: 1)])
            #expect(try await database.store.upload([create(bob, base: new, from: 50_000)]) == [.applied(lost: 0)])
            let found = try await connection.query("SELECT count(*), min(_id) FROM account")
            #expect(try found[0][0].int == 2 * count - 1)
            #expect(try found[0][1].int == 1)
        }
    }

    @Test("Of many objects, those that are there are merged with what happened since the base")
    func manyEdits() async throws {
        try await withDatabase { database, connection in
            let count = LockPlan.erasuresFirstCount * 2
            try await connection.query(
                "INSERT INTO parent SELECT n, 'old' FROM generate_series(1, $1) n", [.int64(Int64(count))])
            let base = try #require(try await database.store.makeTick())
            try await connection.execute("UPDATE parent SET name = 'newer' WHERE _id <= 10")
            let instructions = try (1...count).map { key in
                Instruction.set(
                    try reference(database, "Parent", .int(Int64(key))),
                    [FieldWrite(column: 1, value: .string("mine"))])
            }
            let changeset = Changeset(number: 1, base: base.number, stamp: base.time, instructions: instructions)
            let results = try await database.store.upload([
                Upload(client: ada, changeset: changeset, permit: { _ in nil })
            ])
            #expect(results == [.applied(lost: 10)])
            let found = try await connection.query("SELECT count(*) FROM parent WHERE name = 'mine'")
            #expect(try found[0][0].int == count - 10)
        }
    }

    // MARK: Races

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
            async let results = database.store.upload([stamped])
            try await waitForLock(database)
            try await connection.execute("COMMIT")
            #expect(try await results == [.applied(lost: 1)])
            #expect(try await connection.query("SELECT name FROM parent")[0][0].string == "psql, later")
        }
    }

    /// Waits until somebody in the database waits for a lock.
    private func waitForLock(_ database: TestDatabase) async throws {
        let observer = try await database.connect()
        while try await observer.query(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )[0][0].int64 == 0 {
            try await observer.execute("SELECT pg_sleep(0.005)")
        }
        await observer.close()
    }

    @Test("Each changeset of a group has its own stamp and client in the changelog")
    func stamps() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO account VALUES (1, 0), (2, 0)")
            let base = try #require(try await database.store.makeTick())
            let lines = try await LogLine.during(connection) { connection in
                _ = try await database.store.upload([
                    upload(
                        ada, 1, base: base, after: 10,
                        .set(try reference(database, "Account", .int(1)), [FieldWrite(column: 1, value: .int(5))])),
                    upload(
                        bob, 1, base: base, after: 20,
                        .add(try reference(database, "Account", .int(2)), column: 1, amount: -3)),
                ])
                try await connection.execute("UPDATE account SET balance = 9 WHERE _id = 1")
            }
            #expect(lines.map(\.client) == [11, 22, nil])
            let time = base.time.microseconds
            #expect(lines.map(\.stamp).prefix(2) == [time + 10, time + 20])
            #expect(lines[2].stamp > time + 20)
            #expect(lines[1].marks?.hasPrefix("a") == true && lines[1].marks?.contains("=-3") == true)
        }
    }

    @Test(
        "New rows of many changesets keep their own stamps and numbers, whether they are logged by statement or by row",
        arguments: [false, true])
    func joinedInserts(byRow: Bool) async throws {
        try await withDatabase { database, connection in
            if byRow {
                // Somebody else's trigger after inserts: the table is logged row by row.
                try await connection.execute(
                    """
                    CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                    CREATE TRIGGER see AFTER INSERT ON note FOR EACH ROW EXECUTE FUNCTION see()
                    """)
                let catalog = try await PostgresCatalog.read(connection)
                for step in PostgresSchema.difference(from: catalog, to: database.schema).steps {
                    try await connection.execute(step.sql)
                }
            }
            let base = try #require(try await database.store.makeTick())
            // Keys that JSON has to escape.
            let keys = ["plain", "a \"quote\"", "back\\slash", "{brace} [1, 2]", "line\nbreak\u{1}", "späť 🦊", "", " "]
            var uploads: [Upload] = []
            for client in [ada, bob] {
                for (index, key) in keys.enumerated() {
                    let name = "\(key)\(client.rawValue)"
                    uploads.append(
                        upload(
                            client, Int64(index + 1), base: base, after: Int64(index + 1),
                            .create(try reference(database, "Note", .string(name)), note(name, slug: name)),
                            .create(
                                try reference(database, "Note", .string("\(name)/2")),
                                note("\(name)/2", slug: "\(name)/2"))))
                }
            }
            let results = try await database.store.upload(uploads)
            #expect(results == Array(repeating: .applied(lost: 0), count: uploads.count))
            let rows = try await connection.query(
                """
                SELECT l.key, l.stamp, l.client, l.number FROM tombolo.changelog l JOIN tombolo.class c ON c.id = l.class \
                WHERE c.name = 'Note' AND l.operation = 'c'
                """)
            var found: [String: [Int64]] = [:]
            for row in rows { found[try row[0].string] = try (1...3).map { try row[$0].int64 } }
            var expected: [String: [Int64]] = [:]
            for client in [ada, bob] {
                for (index, key) in keys.enumerated() {
                    let number = Int64(index + 1)
                    for end in ["", "/2"] {
                        expected["\(key)\(client.rawValue)\(end)"] = [
                            base.time.microseconds + number, client.rawValue, number,
                        ]
                    }
                }
            }
            #expect(rows.count == expected.count)
            #expect(found == expected)
            #expect(try await connection.query("SELECT count(*) FROM note")[0][0].int == expected.count)
        }
    }

    @Test("Concurrent uploads of the same changesets take effect once")
    func duplicates() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO account VALUES (1, 0)")
            let base = try #require(try await database.store.makeTick())
            let target = try reference(database, "Account", .int(1))
            let uploads = (1...20).map { upload(ada, Int64($0), base: base, .add(target, column: 1, amount: 1)) }
            try await withThrowingTaskGroup { group in
                for _ in 0..<6 { group.addTask { _ = try await database.store.upload(uploads) } }
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
            let killing = Task {
                var random = SeededGenerator(seed: seed)
                let killer = try await database.connect()
                var kills = 0
                while !isDone.load(ordering: .relaxed) {
                    let killed = try await killer.query(
                        """
                        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                        WHERE datname = current_database() AND application_name = 'tombolo' AND pid <> pg_backend_pid()
                        """)
                    kills += Int(try killed[0][0].int64)
                    try await killer.execute("SELECT pg_sleep(\(Double.random(in: 0...0.05, using: &random)))")
                }
                await killer.close()
                return kills
            }
            var expected: [Int64: Int64] = [:]
            var random = SeededGenerator(seed: seed &+ 1)
            var numbers: [ClientID: Int64] = [:]
            for _ in 0..<40 {
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
                // Like a session, sends again until the outcome is known.
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
                    } catch let error as PostgresError where error.isRetryable {}
                }
            }
            isDone.store(true, ordering: .relaxed)
            let kills = try await killing.value
            print("\(kills) backends were killed")
            #expect(kills > 0)
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

    // MARK: Refusals

    @Test("A changeset that fails with an unknown error is set aside, and others go on")
    func setAside() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                CREATE FUNCTION moody() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF NEW.name = 'secret' THEN RAISE EXCEPTION 'not today, %', NEW.name; END IF; RETURN NEW; END $$;
                CREATE TRIGGER moody BEFORE INSERT ON parent FOR EACH ROW EXECUTE FUNCTION moody()
                """)
            let base = try #require(try await database.store.makeTick())
            func create(_ client: ClientID, _ number: Int64, _ key: Int64, _ name: String) throws -> Upload {
                upload(
                    client, number, base: base,
                    .create(try reference(database, "Parent", .int(key)), [FieldWrite(column: 1, value: .string(name))])
                )
            }
            let results = try await database.store.upload([
                try create(ada, 1, 1, "a"), try create(ada, 2, 2, "secret"), try create(ada, 3, 3, "c"),
            ])
            #expect(results[0] == .applied(lost: 0) && results[2] == .applied(lost: 0))
            guard let refusal = results[1].refusal else {
                Issue.record("\(results)")
                return
            }
            #expect(refusal.code == .setAside)
            #expect(!refusal.message.contains("secret"))
            let kept = try await connection.query(
                "SELECT number, sqlstate, changeset #>> '{instructions,0,fields,name}' FROM tombolo.set_aside")
            #expect(try kept.map { "\(try $0[0].int64) \(try $0[1].string) \(try $0[2].string)" } == ["2 P0001 secret"])
            #expect(try await connection.query("SELECT count(*) FROM parent")[0][0].int64 == 2)
        }
    }

    @Test("A violated CHECK constraint is a refusal that names it")
    func checkConstraint() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("ALTER TABLE account ADD CONSTRAINT solvent CHECK (balance >= 0)")
            let base = try #require(try await database.store.makeTick())
            let target = try reference(database, "Account", .int(1))
            let results = try await database.store.upload([
                upload(ada, 1, base: base, .create(target, [FieldWrite(column: 1, value: .int(5))])),
                upload(ada, 2, base: base, .add(target, column: 1, amount: -9)),
                upload(ada, 3, base: base, .add(target, column: 1, amount: -1)),
            ])
            guard let refusal = results[1].refusal else {
                Issue.record("\(results)")
                return
            }
            #expect(refusal.code == .constraint && refusal.message.contains("solvent"))
            #expect(refusal.key == .int(1))
            #expect(try await connection.query("SELECT balance FROM account")[0][0].int64 == 4)
        }
    }

    @Test("A lock timeout is an error to retry, never a refusal")
    func lockTimeout() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO account VALUES (1, 0)")
            let base = try #require(try await database.store.makeTick())
            try await connection.execute("BEGIN; UPDATE account SET balance = 1")
            var configuration = database.configuration
            configuration.settings = ["lock_timeout": "30ms"]
            let store = try await PostgresServerStore.open(
                schema: database.schema, pool: PostgresPool(configuration: configuration))
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

    @Test("An object that somebody else is making at the same time is merged with, however long that takes")
    func madeAtOnce() async throws {
        try await withDatabase { database, connection in
            let base = try #require(try await database.store.makeTick())
            let target = try reference(database, "Account", .int(1))
            try await connection.execute("BEGIN; INSERT INTO account VALUES (1, 4)")
            let change = upload(
                ada, 1, base: base, after: 3_600_000_000, .create(target, [FieldWrite(column: 1, value: .int(7))]))
            let store = database.store
            let result = Task { try await store.upload([change]) }
            // The group has given up by the time another transaction waits for the key.
            var transactions: Set<String> = []
            while transactions.count < 2 {
                let waiting = try await database.store.pool.query(
                    """
                    SELECT xact_start::text FROM pg_stat_activity
                    WHERE wait_event_type = 'Lock' AND datname = current_database()
                    """)
                for row in waiting { transactions.insert(try row[0].string) }
            }
            try await connection.execute("COMMIT")
            let outcome = try await result.value
            guard case .applied(_, let refusals) = outcome[0] else { throw TestFailure("\(outcome)") }
            #expect(refusals.isEmpty, "\(refusals)")
            #expect(try await connection.query("SELECT balance FROM account")[0][0].int64 == 7, "the later one counts")
        }
    }

    // MARK: Trash

    @Test("Erasing an object of a class with a trash moves it there, and restoring brings it back")
    func trashing() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                INSERT INTO parent VALUES (1, 'p'); INSERT INTO note (_id, slug, text) VALUES ('a', 's', 'x');
                INSERT INTO note_mentions VALUES ('\\x000000000000000000000001', 'a', 'r', 1)
                """)
            let base = try #require(try await database.store.makeTick())
            let target = try reference(database, "Note", .string("a"))
            #expect(
                try await database.store.upload([upload(ada, 1, base: base, .erase(target))]) == [.applied(lost: 0)])
            let trashed = try #require(try await database.store.makeTick())
            let gone = try await database.store.withReader { try await $0.difference(from: base) }
            #expect(gone.changes.map(\.reference) == [target])
            #expect(gone.changes[0].old != nil && gone.changes[0].new == nil)
            let row = try await connection.query("SELECT trashed_at IS NOT NULL, trashed_by FROM note")
            #expect(try row[0][0].bool && row[0][1].string == "u\(ada)")
            // Edits that didn't know of the erase lose; the slug is free for another note.
            #expect(
                try await database.store.upload([
                    upload(bob, 1, base: base, .set(target, [FieldWrite(column: 2, value: .string("y"))])),
                    upload(
                        bob, 2, base: base, .create(try reference(database, "Note", .string("b")), note("b", slug: "s"))
                    ),
                ]) == [.applied(lost: 1), .applied(lost: 0)])
            try await connection.execute("DELETE FROM note WHERE _id = 'b'; SELECT tombolo.restore('Note', 'a')")
            _ = try #require(try await database.store.makeTick())
            let back = try await database.store.withReader { try await $0.difference(from: trashed) }
            let change = try #require(back.changes.first { $0.reference == target })
            #expect(change.old == nil && change.new != nil)
            #expect(change.elements.values.map(\.count) == [1])
        }
    }

    @Test("A create takes over a key that's in the trash, without the old object's lists")
    func trashedKey() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                INSERT INTO parent VALUES (1, 'p'); INSERT INTO note (_id, slug, text) VALUES ('a', 's', 'x');
                INSERT INTO note_mentions VALUES ('\\x000000000000000000000001', 'a', 'r', 1);
                SELECT tombolo.trash('Note', 'a', 'ada', NULL)
                """)
            let base = try #require(try await database.store.makeTick())
            let target = try reference(database, "Note", .string("a"))
            #expect(
                try await database.store.upload([
                    upload(ada, 1, base: base, .create(target, note("a", slug: "new", text: "new")))
                ]) == [.applied(lost: 0)])
            _ = try #require(try await database.store.makeTick())
            let difference = try await database.store.withReader { try await $0.difference(from: base) }
            let change = try #require(difference.changes.first)
            #expect(change.old == nil)
            #expect(change.new == Row([.string("a"), .string("new"), .string("new"), .null]))
            #expect(change.elements.isEmpty)
        }
    }

    /// A user who may only write notes with this text, and their lists.
    private func owner(_ text: String) -> @Sendable (WriteRequest) -> WriteDenial? {
        { request in
            let rows: [Row?] =
                switch request.operation {
                case .create: [request.new]
                case .update: [request.old, request.new]
                case .delete, .restore: [request.old]
                }
            return rows.allSatisfy { $0?[2] == .string(text) } ? nil : "Not yours."
        }
    }

    @Test(
        "A device can't replace or edit another user's object in the trash",
        arguments: [false, true])
    func foreignTrash(erased: Bool) async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                INSERT INTO parent VALUES (1, 'p'); INSERT INTO note (_id, slug, text) VALUES ('a', 's', 'theirs');
                INSERT INTO note_mentions VALUES ('\\x000000000000000000000001', 'a', 'r', 1);
                SELECT tombolo.trash('Note', 'a', 'bob', NULL)
                """)
            let base = try #require(try await database.store.makeTick())
            let target = try reference(database, "Note", .string("a"))
            let element = ObjectReference(
                classIndex: try #require(database.schema.elementClassIndexes(of: target.classIndex).first),
                key: .objectId(ObjectId(high: 0, low: 1)))
            let attempts: [[Instruction]] = [
                [.create(target, note("a", slug: "mine", text: "mine"))] + (erased ? [.erase(target)] : []),
                [.set(target, [FieldWrite(column: 1, value: .string("x"))]), .erase(element)],
            ]
            let results = try await database.store.upload(
                attempts.enumerated().map { index, instructions in
                    Upload(
                        client: ada,
                        changeset: Changeset(
                            number: Int64(index) + 1, base: base.number, stamp: base.time, instructions: instructions),
                        permit: owner("mine"))
                })
            for result in results {
                guard let refusal = result.refusal else {
                    Issue.record("not refused: \(result)")
                    continue
                }
                #expect(refusal.code == .notPermitted)
            }
            let row = try await connection.query(
                "SELECT slug, text, trashed_by, (SELECT count(*) FROM note_mentions) FROM note")
            #expect(try row[0][0].string == "s" && row[0][1].string == "theirs" && row[0][2].string == "bob")
            #expect(try row[0][3].int64 == 1)
        }
    }

    @Test("A create brings an object back from the trash only for whoever may restore it")
    func restoring() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                INSERT INTO parent VALUES (1, 'p'); INSERT INTO note (_id, slug, text) VALUES ('a', 's', 'x');
                SELECT tombolo.trash('Note', 'a', 'ada', NULL)
                """)
            let base = try #require(try await database.store.makeTick())
            let target = try reference(database, "Note", .string("a"))
            func create(_ number: Int64, mayRestore: Bool) -> Upload {
                Upload(
                    client: ada,
                    changeset: Changeset(
                        number: number, base: base.number, stamp: base.time,
                        instructions: [.create(target, note("a", slug: "s", text: "x"))]),
                    permit: { $0.operation == .restore && !mayRestore ? "Not restoring." : nil })
            }
            let results = try await database.store.upload([create(1, mayRestore: false), create(2, mayRestore: true)])
            #expect(
                results == [
                    .refused(Refusal(.notPermitted, "Not restoring.", className: "Note", key: .string("a"))),
                    .applied(lost: 0),
                ])
            #expect(try await connection.query("SELECT trashed_at IS NULL FROM note")[0][0].bool)
        }
    }

    @Test("An object of a class with a trash can be erased and created again in one changeset")
    func recreation() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                INSERT INTO parent VALUES (1, 'p'); INSERT INTO note (_id, slug, text) VALUES ('a', 's', 'old');
                INSERT INTO note_mentions VALUES ('\\x000000000000000000000001', 'a', 'r', 1)
                """)
            let base = try #require(try await database.store.makeTick())
            let target = try reference(database, "Note", .string("a"))
            #expect(
                try await database.store.upload([
                    upload(
                        ada, 1, base: base, .erase(target), .create(target, note("a", slug: "t", text: "new")))
                ]) == [.applied(lost: 0)])
            _ = try #require(try await database.store.makeTick())
            let difference = try await database.store.withReader { try await $0.difference(from: base) }
            let change = try #require(difference.changes.first { $0.reference == target })
            #expect(change.old == Row([.string("a"), .string("s"), .string("old"), .null]))
            #expect(change.new == Row([.string("a"), .string("t"), .string("new"), .null]))
            #expect(change.elements.isEmpty)
        }
    }

    // MARK: Speed

    @Test("5,000 small changesets are all applied in one upload")
    func batching() async throws {
        try await withDatabase { database, connection in
            let base = try #require(try await database.store.makeTick())
            let classIndex = try TestModel.index("Account", database.schema)
            let count = 5_000
            let instructions = (0..<count).map {
                Instruction.create(
                    ObjectReference(classIndex: classIndex, key: .int(Int64($0))),
                    [FieldWrite(column: 1, value: .int(1))])
            }
            let whole = Upload(
                client: ada,
                changeset: Changeset(number: 1, base: base.number, stamp: base.time, instructions: instructions),
                permit: { _ in nil })
            let clock = ContinuousClock()
            let together = try await clock.measure {
                let results = try await database.store.upload([whole])
                #expect(results == [.applied(lost: 0)])
            }
            let small = (0..<count).map { number in
                upload(
                    bob, Int64(number + 1), base: base,
                    .set(
                        ObjectReference(classIndex: classIndex, key: .int(Int64(number))),
                        [FieldWrite(column: 1, value: .int(2))]))
            }
            let oneByOne = try await clock.measure {
                let results = try await database.store.upload(small)
                #expect(results.allSatisfy { $0 == .applied(lost: 0) || $0 == .applied(lost: 1) })
            }
            print("\(count) creates of one changeset: \(together); as many changesets of one change: \(oneByOne)")
            #expect(try await connection.query("SELECT count(*) FROM account")[0][0].int64 == Int64(count))
        }
    }
}
