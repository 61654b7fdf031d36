import Foundation
import PostgresClient
import ServerStoreConformance
import Testing
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore
import TomboloSyncProtocol
import TomboloSyncSession

/// Refused uploads: what is refused, what is kept, and that no other upload waits.
@Suite(.serialized) struct RefusedUploadTests {
    private let ada = ClientID(rawValue: 11)

    private func withDatabase(_ body: (TestDatabase, PostgresConnection) async throws -> Void) async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        _ = try await database.store.openClient(ada, user: "ada", acknowledged: 0)
        try await body(database, connection)
        await connection.close()
        await database.finish()
    }

    private func upload(
        _ number: Int64, denial: @escaping @Sendable (WriteRequest.Operation, Int) -> WriteDenial? = { _, _ in nil },
        _ instructions: Instruction...
    ) -> Upload {
        Upload(
            client: ada,
            changeset: Changeset(
                number: number, base: 0, stamp: Stamp(microseconds: number), instructions: instructions),
            permit: { _ in nil }, denial: denial)
    }

    private func reference(_ database: TestDatabase, _ name: String, _ key: Value) throws -> ObjectReference {
        ObjectReference(classIndex: try TestModel.index(name, database.schema), key: key)
    }

    private func reason(_ result: UploadResult) -> Refusal? {
        result.refusal
    }

    @Test("An upload without any permission for a class is refused without waiting for its locked rows")
    func deniedWithoutLock() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO parent VALUES (1, 'x'); INSERT INTO account VALUES (1, 0)")
            let parents = try TestModel.index("Parent", database.schema)
            // Waiting for the row would end in a lock timeout, which fails the upload.
            try await connection.execute("BEGIN; SELECT * FROM parent FOR UPDATE")
            let name = FieldWrite(column: 1, value: .string("y"))
            let results = try await database.store.upload([
                upload(
                    1, denial: { $1 == parents ? "Only for others." : nil },
                    .set(try reference(database, "Account", .int(1)), [FieldWrite(column: 1, value: .int(5))]),
                    .set(try reference(database, "Parent", .int(1)), [name])),
                upload(
                    2, .create(try reference(database, "Account", .int(2)), [FieldWrite(column: 1, value: .int(7))])),
            ])
            #expect(reason(results[0])?.code == .notPermitted)
            #expect(reason(results[0])?.message == "Only for others.")
            #expect(results[1] == .applied(lost: 0))
            try await connection.execute("COMMIT")
            #expect(try await connection.query("SELECT sum(balance)::bigint FROM account")[0][0].int64 == 7)
        }
    }

    @Test("An upload with a value its column can't take is refused without waiting for a locked row")
    func invalidWithoutLock() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO parent VALUES (1, 'x')")
            try await connection.execute("BEGIN; SELECT * FROM parent FOR UPDATE")
            let parent = try reference(database, "Parent", .int(1))
            let results = try await database.store.upload([
                upload(1, .set(parent, [FieldWrite(column: 1, value: .int(1))])),
                upload(2, .set(parent, [FieldWrite(column: 0, value: .int(2))])),
                upload(3, .add(parent, column: 0, amount: 1)),
            ])
            #expect(results.map { reason($0)?.code } == [.invalid, .invalid, .invalid])
            try await connection.execute("COMMIT")
        }
    }

    @Test("A create whose key column names another object creates neither object")
    func otherKey() async throws {
        try await withDatabase { database, connection in
            let account = try reference(database, "Account", .int(11))
            let results = try await database.store.upload([
                upload(1, .create(account, [FieldWrite(column: 0, value: .int(22))])),
                upload(2, .create(account, [FieldWrite(column: 0, value: .int(11))])),
            ])
            #expect(reason(results[0])?.code == .invalid && reason(results[0])?.key == .int(11))
            #expect(results[1] == .applied(lost: 0))
            let keys = try await connection.query("SELECT _id FROM account")
            #expect(try keys.map { try $0[0].int64 } == [11])
        }
    }

    @Test("A constraint violation undoes only the instruction that caused it; the transaction's other writes are kept")
    func violations() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                ALTER TABLE account ADD CONSTRAINT solvent CHECK (balance >= 0);
                INSERT INTO account VALUES (1, 5); INSERT INTO parent VALUES (1, 'x')
                """)
            let account = try reference(database, "Account", .int(1))
            let other = try reference(database, "Account", .int(2))
            let parent = try reference(database, "Parent", .int(1))
            let name = FieldWrite(column: 1, value: .string("y"))
            let base = try #require(try await database.store.makeTick())
            let results = try await database.store.upload([
                Upload(
                    client: ada,
                    changeset: Changeset(
                        number: 1, base: base.number, stamp: base.time,
                        instructions: [
                            .set(parent, [name]), .add(account, column: 1, amount: -9),
                            .add(account, column: 1, amount: -2),
                            .create(other, [FieldWrite(column: 1, value: .int(-1))]),
                            .add(other, column: 1, amount: 1),
                        ]), permit: { _ in nil })
            ])
            guard case .applied(let lost, let refusals) = results[0] else {
                Issue.record("\(results)")
                return
            }
            #expect(refusals.map(\.key) == [.int(1), .int(2)] && refusals.allSatisfy { $0.code == .constraint })
            #expect(lost == 1, "Expected only the addition to the missing object to be lost.")
            #expect(try await connection.query("SELECT balance FROM account").map { try $0[0].int64 } == [3])
            #expect(try await connection.query("SELECT name FROM parent")[0][0].string == "y")
            _ = try await database.store.makeTick()
            let progress = try await database.store.withReader { [ada] in try await $0.progress(of: ada) }
            #expect(progress.refusals == refusals.map { RefusedWrite(number: 1, refusal: $0) })
        }
    }

    @Test("An object whose replacement violates a constraint stays as it was")
    func violatingReplacement() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                ALTER TABLE account ADD CONSTRAINT solvent CHECK (balance >= 0); INSERT INTO account VALUES (1, 5)
                """)
            let account = try reference(database, "Account", .int(1))
            let base = try #require(try await database.store.makeTick())
            let results = try await database.store.upload([
                Upload(
                    client: ada,
                    changeset: Changeset(
                        number: 1, base: base.number, stamp: base.time,
                        instructions: [
                            .erase(account), .create(account, [FieldWrite(column: 1, value: .int(-1))]),
                        ]), permit: { _ in nil })
            ])
            #expect(reason(results[0])?.code == .constraint)
            #expect(try await connection.query("SELECT balance FROM account").map { try $0[0].int64 } == [5])
        }
    }

    @Test("A refusal carries the message of the trigger that raised it, and the changeset's other writes are kept")
    func raised() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                CREATE FUNCTION check_balance() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    RAISE EXCEPTION 'the balance is negative' USING ERRCODE = 'check_violation', CONSTRAINT = 'solvent'; END $$
                """)
            try await connection.execute(
                """
                CREATE TRIGGER solvent BEFORE INSERT ON account FOR EACH ROW WHEN (NEW.balance < 0)
                    EXECUTE FUNCTION check_balance()
                """)
            let accounts = try [Int64(1), 2].map { try reference(database, "Account", .int($0)) }
            let results = try await database.store.upload([
                upload(
                    1, .create(accounts[0], [FieldWrite(column: 1, value: .int(-1))]),
                    .create(accounts[1], [FieldWrite(column: 1, value: .int(1))]))
            ])
            #expect(reason(results[0])?.message == "The balance is negative.", "\(results)")
            #expect(reason(results[0])?.code == .constraint && reason(results[0])?.key == .int(1))
            #expect(try await connection.query("SELECT balance FROM account").map { try $0[0].int64 } == [1])
        }
    }

    @Test("A changeset that violates constraints again and again is refused as a whole")
    func manyViolations() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("ALTER TABLE account ADD CONSTRAINT solvent CHECK (balance >= 0)")
            let creates = try (0...Int64(PostgresServerStore.maximumViolations)).map { key in
                Instruction.create(
                    try reference(database, "Account", .int(key)),
                    [FieldWrite(column: 1, value: .int(key == 0 ? 1 : -1))])
            }
            let results = try await database.store.upload([
                Upload(
                    client: ada,
                    changeset: Changeset(
                        number: 1, base: 0, stamp: Stamp(microseconds: 1), instructions: creates), permit: { _ in nil }),
                upload(2, .create(try reference(database, "Account", .int(99)), [])),
            ])
            guard case .applied(_, let refusals) = results[0] else {
                Issue.record("\(results)")
                return
            }
            #expect(refusals.count == PostgresServerStore.maximumViolations)
            #expect(results[1] == .applied(lost: 0))
            #expect(try await connection.query("SELECT _id FROM account").map { try $0[0].int64 } == [99])
        }
    }

    @Test("Receipts from an older database version keep their refusals")
    func oldReceipts() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                UPDATE tombolo.client SET last = 1 WHERE id = 11;
                ALTER TABLE tombolo.receipt DROP COLUMN refusals, ADD COLUMN code text, ADD COLUMN message text,
                    ADD COLUMN class text, ADD COLUMN key text;
                INSERT INTO tombolo.receipt (client, number, hash, code, message, class, key)
                VALUES (11, 1, 0, 'notPermitted', 'No.', 'Account', '7'), (11, 2, 0, NULL, NULL, NULL, NULL)
                """)
            try await PostgresSchema.install(database.schema, on: connection)
            _ = try await database.store.makeTick()
            let progress = try await database.store.withReader { [ada] in try await $0.progress(of: ada) }
            #expect(
                progress.refusals == [
                    RefusedWrite(
                        number: 1, refusal: Refusal(.notPermitted, "No.", className: "Account", key: .int(7)))
                ])
        }
    }

    @Test("A changeset the server can't read is refused, recognised when repeated, and blocks no other upload")
    func unreadable() async throws {
        try await withDatabase { database, connection in
            func unreadable(_ fingerprint: Int64) -> Upload {
                var changeset = Changeset(number: 1, base: 0, stamp: Stamp(microseconds: 1), instructions: [])
                changeset.defect = ChangesetDefect(
                    refusal: Refusal(.invalid, "There is no class 'Ghost'."), fingerprint: fingerprint)
                return Upload(client: ada, changeset: changeset, permit: { _ in nil })
            }
            let account = try reference(database, "Account", .int(1))
            let next = upload(2, .create(account, []))
            let results = try await database.store.upload([unreadable(7), next])
            #expect(reason(results[0])?.message == "There is no class 'Ghost'.")
            #expect(results[1] == .applied(lost: 0))
            #expect(try await database.store.upload([unreadable(7), next]) == [.duplicate, .duplicate])
            #expect(try await database.store.upload([unreadable(8)]) == [.conflict])
        }
    }

    @Test("A value too long for an index is refused, naming the indexed properties, not set aside")
    func tooLongForIndex() async throws {
        try await withDatabase { database, connection in
            // Random text, since PostgreSQL compresses repetition.
            let text = String(decoding: (0..<(1 << 20)).map { _ in UInt8.random(in: 0x21...0x7e) }, as: UTF8.self)
            let note = try reference(database, "Note", .string("n"))
            let results = try await database.store.upload([
                upload(
                    1,
                    .create(
                        note, [FieldWrite(column: 1, value: .string("s")), FieldWrite(column: 2, value: .string(text))])
                ),
                upload(2, .create(try reference(database, "Account", .int(1)), [])),
            ])
            let refusal = try #require(reason(results[0]), "\(results)")
            #expect(refusal.code == .constraint && refusal.className == "Note" && refusal.key == .string("n"))
            #expect(refusal.message.contains("Indexed properties: _id, slug, text"), "\(refusal.message)")
            #expect(results[1] == .applied(lost: 0))
            #expect(try await connection.query("SELECT count(*) FROM tombolo.set_aside")[0][0].int64 == 0)
        }
    }

    @Test("The number of a user's set-aside changesets is bounded; more are refused without being kept")
    func setAsideIsBounded() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                CREATE FUNCTION moody() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    RAISE EXCEPTION '%', repeat('x', 5000); END $$;
                CREATE TRIGGER moody BEFORE INSERT ON parent FOR EACH ROW EXECUTE FUNCTION moody();
                INSERT INTO tombolo.set_aside (client, number, sqlstate, message, changeset)
                SELECT 11, 0, 'P0001', '', '{}' FROM generate_series(2, \(StoreLimits.setAsidePerUser.count))
                """)
            for number: Int64 in [1, 2] {
                let results = try await database.store.upload([
                    upload(number, .create(try reference(database, "Parent", .int(number)), []))
                ])
                #expect(reason(results[0])?.code == .setAside)
                #expect(reason(results[0])?.message.contains("already keeps too many") == (number == 2))
            }
            let kept = try await connection.query(
                "SELECT count(*), max(number), max(length(message)) FROM tombolo.set_aside")
            #expect(try kept[0][0].int == StoreLimits.setAsidePerUser.count)
            #expect(try kept[0][1].int64 == 1)
            #expect(try kept[0][2].int64 < 2_000)
        }
    }

    @Test("A refusal's receipt doesn't keep a long key or message")
    func receiptsAreShort() async throws {
        try await withDatabase { database, connection in
            let key = Value.string(String(repeating: "k", count: 5_000))
            let note = try reference(database, "Note", key)
            _ = try await database.store.upload([
                upload(
                    1, denial: { _, _ in WriteDenial(String(repeating: "m", count: 5_000), role: nil) }, .erase(note))
            ])
            let row = try await connection.query(
                "SELECT length(refusals #>> '{0,message}'), refusals #> '{0,key}' IS NULL FROM tombolo.receipt")
            #expect(try row[0][0].int64 < 2_000)
            #expect(try row[0][1].bool)
        }
    }

    @Test("A user at the device limit can open their devices but no new one")
    func clientsAreBounded() async throws {
        try await withDatabase { database, connection in
            try await connection.execute(
                """
                INSERT INTO tombolo.client (id, user_id)
                SELECT g, 'ada' FROM generate_series(1001, 999 + \(StoreLimits.clientsPerUser)) g
                """)
            let error = await #expect(throws: SessionFailure.self) {
                try await database.store.openClient(ClientID(rawValue: 5), user: "ada", acknowledged: 0)
            }
            #expect(error?.isRetryable == true && error?.message.contains("devices") == true)
            #expect(try await database.store.openClient(ada, user: "ada", acknowledged: 0).mustReset == nil)
            let other = ClientID(rawValue: 6)
            #expect(try await database.store.openClient(other, user: "bob", acknowledged: 0).mustReset == nil)
        }
    }

    @Test("Plain SQL and uploads refuse a row larger than a message can carry, naming the limit")
    func rowSize() async throws {
        try await withDatabase { database, connection in
            let error = await #expect(throws: PostgresError.self) {
                try await connection.execute(
                    """
                    INSERT INTO person (_id, email, photo) VALUES ('\\x000000000000000000000001',
                    repeat('a', 10 << 20), convert_to(repeat('b', 10 << 20), 'UTF8'))
                    """)
            }
            #expect(error?.code == .checkViolation && error?.constraintName == "person_row_at_most_18_mib")
            let person = try reference(database, "Person", .objectId(ObjectId(high: 1, low: 1)))
            let long = [UInt8](repeating: 0x61, count: 10 << 20)
            let results = try await database.store.upload([
                upload(1, .create(person, [FieldWrite(column: 4, value: .data(Data(long)))])),
                upload(2, .set(person, [FieldWrite(column: 1, value: .string(String(decoding: long, as: UTF8.self)))])),
            ])
            #expect(results[0] == .applied(lost: 0))
            #expect(reason(results[1])?.code == .constraint)
            #expect(reason(results[1])?.message.contains("18 MiB") == true, "\(results[1])")
        }
    }
}
