import PostgresClient
import ServerStoreConformance
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

/// Behaviour of uploads that only a real PostgreSQL shows: many objects at once, the changelog written by triggers, statement
/// errors.
@Suite(.serialized) struct UploadTests: UploadingSuite {
    @Test(
        "Of many new objects, those deleted since the base stay deleted, however many there are",
        arguments: [1, LockPlan.maximumErasureCount + 5])
    func manyCreates(erasedCount: Int) async throws {
        try await withDatabase { database, connection in
            try await connection.query(
                "INSERT INTO account SELECT n, 7 FROM generate_series(1, $1) n", [.int64(Int64(erasedCount))])
            let old = try #require(try await database.store.makeTick())
            try await connection.execute("DELETE FROM account")
            let new = try #require(try await database.store.makeTick())
            let count = LockPlan.erasuresFirstCount * 2
            // The first key is among the deleted ones; the last isn't.
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

    @Test("Edits of many objects are merged with what happened since the base")
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
        "New rows of many changesets keep their own stamps and numbers, whether logged by statement or by row",
        arguments: [false, true])
    func joinedInserts(byRow: Bool) async throws {
        try await withDatabase { database, connection in
            if byRow {
                // A foreign insert trigger makes the table log row by row.
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

    @Test("A changeset that fails with an unknown error is set aside, and the others continue")
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

    @Test("Violating a CHECK constraint gives a refusal that names it")
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
