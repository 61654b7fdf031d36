import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

/// Creates that share rows of the changelog are read, followed and arbitrated like any other creates.
@Suite(.serialized) struct BulkRowTests {
    private func withDatabase(_ body: (TestDatabase, PostgresConnection) async throws -> Void) async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        try await body(database, connection)
        await connection.close()
        await database.finish()
    }

    private func bulkRows(_ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT count(*) FROM tombolo.changelog WHERE keys IS NOT NULL")[0, 0].int
    }

    private func operations(_ lines: [LogLine]) -> [String] { lines.map { "\($0.operation)\($0.key)" } }

    // MARK: Writing

    @Test("Many rows of one statement share log rows, whatever their keys; a few rows, or list elements, get one each")
    func sharing() async throws {
        try await withDatabase { _, connection in
            let few = try await LogLine.lines(
                connection, "INSERT INTO account SELECT n, 0 FROM generate_series(1, \(BulkRow.keyLimit)) n")
            #expect(operations(few) == (1...BulkRow.keyLimit).map { "c\($0)" })
            #expect(try await bulkRows(connection) == 0)
            let many = try await LogLine.lines(
                connection, "INSERT INTO account SELECT n, 0 FROM generate_series(101, 1100) n")
            #expect(operations(many) == (101...1_100).map { "c\($0)" })
            #expect(many.allSatisfy { $0.client == nil && $0.marks == nil && $0.root == nil && $0.old.isEmpty })
            let count = (1_000 + BulkRow.keyLimit - 1) / BulkRow.keyLimit
            #expect(try await bulkRows(connection) == count)
            let keys = try await LogLine.lines(
                connection,
                """
                INSERT INTO person (_id, email) SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), n::text
                FROM generate_series(1, 40) n;
                INSERT INTO tagged SELECT lpad(n::text, 32, '0')::uuid, 't' FROM generate_series(1, 40) n;
                INSERT INTO note (_id, slug, text) SELECT '{"' || n, n::text, '' FROM generate_series(1, 40) n;
                INSERT INTO parent SELECT n, 'p' FROM generate_series(1, 40) n
                """)
            let digits = (1...40).map { String($0) }
            let hexadecimal = (1...40).map { number in
                let text = String(number, radix: 16)
                return String(repeating: "0", count: 24 - text.count) + text
            }
            let uuids = digits.map { "00000000-0000-0000-0000-" + String(repeating: "0", count: 12 - $0.count) + $0 }
            #expect(keys.map(\.key) == hexadecimal + uuids + digits.map { "{\"" + $0 } + digits)
            #expect(try await bulkRows(connection) == count + 8)
            let elements = try await LogLine.lines(
                connection,
                """
                INSERT INTO tagged_parents SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), '\(uuids[0])', n::text, 1
                FROM generate_series(1, 40) n
                """)
            #expect(elements.count == 40 && elements.allSatisfy { $0.root == uuids[0] })
            #expect(try await bulkRows(connection) == count + 8)
        }
    }

    @Test("COPY, upserts, savepoints and rollbacks are logged as they take effect")
    func statements() async throws {
        try await withDatabase { _, connection in
            let copied = try await LogLine.during(connection) { connection in
                let rows = (1...50).map { "\($0)\t0\n" }.joined()
                try await connection.copyIn("COPY account FROM STDIN", chunks: [Array(rows.utf8)])
            }
            #expect(operations(copied) == (1...50).map { "c\($0)" })
            let upserted = try await LogLine.lines(
                connection,
                """
                INSERT INTO account SELECT n, 7 FROM generate_series(41, 100) n
                ON CONFLICT (_id) DO UPDATE SET balance = excluded.balance
                """)
            #expect(Set(operations(upserted)) == Set((41...50).map { "u\($0)" } + (51...100).map { "c\($0)" }))
            #expect(upserted.count == 60)
            let kept = try await LogLine.lines(
                connection,
                """
                BEGIN; INSERT INTO account SELECT n, 0 FROM generate_series(201, 240) n; SAVEPOINT here;
                INSERT INTO account SELECT n, 0 FROM generate_series(301, 340) n; ROLLBACK TO here;
                DELETE FROM account WHERE _id = 201; COMMIT;
                BEGIN; INSERT INTO account SELECT n, 0 FROM generate_series(401, 440) n; ROLLBACK
                """)
            #expect(operations(kept) == (201...240).map { "c\($0)" } + ["e201"])
            #expect(kept.last?.old == ["_id": "201", "balance": "0"])
        }
    }

    // MARK: Reading

    @Test("A difference contains each object that a statement created, in its current state")
    func difference() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO account VALUES (1, 5)")
            let base = try #require(try await database.store.makeTick())
            try await connection.execute(
                """
                DELETE FROM account; INSERT INTO account SELECT n, n FROM generate_series(1, 100) n;
                UPDATE account SET balance = 1000 WHERE _id = 2; DELETE FROM account WHERE _id = 3;
                UPDATE account SET _id = 104 WHERE _id = 4
                """)
            _ = try #require(try await database.store.makeTick())
            let difference = try await database.store.withReader { try await $0.difference(from: base) }
            let new = difference.changes.compactMap { $0.new?[0] }
            #expect(new.count == 99)
            #expect(Set(new) == Set((1...100).filter { $0 != 3 && $0 != 4 }.map { Value.int($0) } + [.int(104)]))
            #expect(difference.changes.first { $0.new?[0] == .int(2) }?.new?[1] == .int(1_000))
            // Only the account that existed before the base has old values.
            #expect(difference.changes.compactMap { $0.old?[1] } == [.int(5)])
        }
    }

    @Test("A cursor lists each object that a statement created, and reports when there are more than the limit")
    func cursor() async throws {
        try await withDatabase { _, connection in
            try await connection.execute(ChangelogCursor.settings)
            var cursor = try await ChangelogCursor(connection)
            try await connection.execute(
                "INSERT INTO account SELECT n, 0 FROM generate_series(1, 40) n; INSERT INTO parent VALUES (7, 'p')")
            var other = cursor
            let changes = try #require(try await cursor.changes(connection, note: "c.name || l.key", limit: 41))
            #expect(
                changes.map { "\($0.className ?? "") \($0.key) \($0.note ?? "")" }.sorted()
                    == ((1...40).map { "Account \($0) Account\($0)" } + ["Parent 7 Parent7"]).sorted())
            #expect(try await cursor.changes(connection, note: "l.root", limit: 41)?.isEmpty == true)
            #expect(try await other.changes(connection, note: "l.root", limit: 39) == nil)
        }
    }

    // MARK: Arbitration

    private let ada = ClientID(rawValue: 11)
    private let bob = ClientID(rawValue: 22)

    private func upload(
        _ client: ClientID, _ number: Int64, base: Tick, after microseconds: Int64, _ instruction: Instruction
    ) -> Upload {
        upload(client, number, base: base, after: microseconds, [instruction])
    }

    private func upload(
        _ client: ClientID, _ number: Int64, base: Tick, after microseconds: Int64, _ instructions: [Instruction]
    ) -> Upload {
        Upload(
            client: client,
            changeset: Changeset(
                number: number, base: base.number,
                stamp: Stamp(microseconds: base.time.microseconds + microseconds), instructions: instructions),
            permit: { _ in nil })
    }

    @Test(
        "Device writes to an object that plain SQL inserted meanwhile are arbitrated alike, however many rows came with it",
        arguments: [1, 100])
    func arbitration(count: Int) async throws {
        try await withDatabase { database, connection in
            for client in [ada, bob] {
                _ = try await database.store.openClient(client, user: "u\(client)", acknowledged: 0)
            }
            let target = ObjectReference(
                classIndex: try TestModel.index("Note", database.schema), key: .string("0000000000000001"))
            func text() async throws -> String {
                try await connection.query("SELECT text FROM note WHERE _id = '0000000000000001'")[0, 0].string
            }
            func set(_ text: String) -> Instruction {
                .set(target, [FieldWrite(column: 2, value: .string(text))])
            }
            let old = try #require(try await database.store.makeTick())
            try await connection.execute(
                """
                INSERT INTO note (_id, slug, text) SELECT lpad(n::text, 16, '0'), n::text, 'plain'
                FROM generate_series(1, \(count)) n
                """)
            #expect(
                try await bulkRows(connection) == (count + BulkRow.keyLimit - 1) / BulkRow.keyLimit
                    * (count > 1 ? 1 : 0))
            let new = try #require(try await database.store.makeTick())
            // Stamped before the insert, and unaware of it.
            let create = Instruction.create(
                target, [FieldWrite(column: 1, value: .string("1")), FieldWrite(column: 2, value: .string("earlier"))])
            let results = try await database.store.upload([
                upload(ada, 1, base: old, after: 1, create), upload(ada, 2, base: old, after: 2, set("earlier")),
            ])
            #expect(results == [.applied(lost: 2), .applied(lost: 1)])
            #expect(try await text() == "plain")
            // Updated on its own: the row has changed since the insert.
            try await connection.execute("UPDATE note SET slug = 'other' WHERE _id = '0000000000000001'")
            #expect(
                try await database.store.upload([upload(ada, 3, base: old, after: 3, set("earlier"))])
                    == [.applied(lost: 1)])
            #expect(try await text() == "plain")
            // Stamped after the insert, and aware of it.
            #expect(
                try await database.store.upload([upload(bob, 1, base: new, after: 1, set("knowing"))])
                    == [.applied(lost: 0)])
            #expect(try await text() == "knowing")
            // Stamped after the insert.
            #expect(
                try await database.store.upload([upload(ada, 4, base: old, after: 86_400_000_000, set("later"))])
                    == [.applied(lost: 0)])
            #expect(try await text() == "later")
        }
    }

    @Test(
        "Device writes to an object that another device created are arbitrated alike, however many objects came with it",
        arguments: [1, 100])
    func arbitrationOfUploads(count: Int) async throws {
        try await withDatabase { database, connection in
            for client in [ada, bob] {
                _ = try await database.store.openClient(client, user: "u\(client)", acknowledged: 0)
            }
            let classIndex = try TestModel.index("Note", database.schema)
            func note(_ number: Int) -> ObjectReference {
                ObjectReference(classIndex: classIndex, key: .string("note \(number)"))
            }
            func text() async throws -> String {
                try await connection.query("SELECT text FROM note WHERE _id = 'note 1'")[0, 0].string
            }
            func set(_ column: Int, _ text: String) -> Instruction {
                .set(note(1), [FieldWrite(column: column, value: .string(text))])
            }
            let old = try #require(try await database.store.makeTick())
            let creates = (1...count).map { number in
                Instruction.create(
                    note(number),
                    [
                        FieldWrite(column: 1, value: .string("slug \(number)")),
                        FieldWrite(column: 2, value: .string(""), isDefault: true),
                    ])
            }
            let lines = try await LogLine.during(connection) { _ in
                let results = try await database.store.upload([upload(bob, 1, base: old, after: 20, creates)])
                #expect(results == [.applied(lost: 0)])
            }
            #expect(lines.map(\.key) == (1...count).map { "note \($0)" })
            #expect(
                lines.allSatisfy {
                    $0.client == bob.rawValue && $0.stamp == old.time.microseconds + 20
                        && $0.marks?.hasPrefix("d") == true
                })
            #expect(try await bulkRows(connection) == (count > 1 ? 4 : 0))
            // A client never conflicts with itself, even if its clock was set back.
            #expect(
                try await database.store.upload([upload(bob, 2, base: old, after: 19, [set(1, "own")])])
                    == [.applied(lost: 0)])
            // Stamped before the create and unaware of it, so the slug loses; the text wins because the create only gave it a
            // default.
            let results = try await database.store.upload([
                upload(ada, 1, base: old, after: 1, [set(2, "earlier")]),
                upload(ada, 2, base: old, after: 2, [set(1, "earlier")]),
            ])
            #expect(results == [.applied(lost: 0), .applied(lost: 1)])
            #expect(try await text() == "earlier")
        }
    }

    @Test("A changeset that creates many objects has its own log rows, even within a group")
    func groups() async throws {
        try await withDatabase { database, connection in
            let classIndex = try TestModel.index("Account", database.schema)
            let base = try #require(try await database.store.makeTick())
            let counts = [40, 40, 5, 5, 33]
            var key: Int64 = 0
            var uploads: [Upload] = []
            for client in [ada, bob] {
                _ = try await database.store.openClient(client, user: "u\(client)", acknowledged: 0)
                for (number, count) in counts.enumerated() {
                    let creates = (0..<count).map { _ in
                        key += 1
                        return Instruction.create(
                            ObjectReference(classIndex: classIndex, key: .int(key)),
                            [FieldWrite(column: 1, value: .int(1))])
                    }
                    uploads.append(upload(client, Int64(number + 1), base: base, after: Int64(number), creates))
                }
            }
            #expect(
                try await database.store.upload(uploads) == Array(repeating: .applied(lost: 0), count: uploads.count))
            let rows = try await connection.query(
                """
                SELECT client, number, count(*), sum(coalesce(cardinality(keys), 1))::bigint FROM tombolo.changelog
                WHERE client IS NOT NULL AND class <> \(SchemaIdentifiers.progressClass) GROUP BY 1, 2 ORDER BY 1, 2
                """
            ).map { row in try (0..<4).map { try row[$0].int } }
            // The last three changesets share a statement, so each of their objects has its own row.
            let wanted = [ada, bob].flatMap { client in
                counts.enumerated().map { number, count in
                    [Int(client.rawValue), number + 1, number < 2 ? 2 : count, count]
                }
            }
            #expect(rows == wanted)
        }
    }

    @Test("A row may be new unless a base sees the last transaction that wrote it, across wrap-arounds")
    func mayBeNew() {
        func base(_ next: UInt64, _ running: Set<UInt64> = []) -> Snapshot {
            Snapshot(xmin: running.min() ?? next, xmax: next, running: running)
        }
        let wrap: UInt64 = 1 << 32
        for epoch in [0, wrap, 5 * wrap] {
            for next in [epoch + 1_000, epoch + wrap - 1, epoch + wrap - (1 << 31)] {
                for age in [1, 10, 900] as [UInt64] where next - age >= 3 {
                    let writer = UInt32(truncatingIfNeeded: next - age)
                    #expect(BulkRowSearch.mayBeNew(writer, next: next, since: base(next - age)))
                    #expect(BulkRowSearch.mayBeNew(writer, next: next, since: base(next - age - 1)))
                    #expect(!BulkRowSearch.mayBeNew(writer, next: next, since: base(next - age + 1)))
                    #expect(BulkRowSearch.mayBeNew(writer, next: next, since: base(next, [next - age])))
                    #expect(!BulkRowSearch.mayBeNew(writer, next: next, since: base(next, [next - age - 1])))
                }
                // Written after `next` was read.
                #expect(BulkRowSearch.mayBeNew(UInt32(truncatingIfNeeded: next + 3), next: next, since: base(next)))
            }
        }
        // A base so many transactions back that 32 bits can't tell, such as after a busy week.
        #expect(BulkRowSearch.mayBeNew(100, next: wrap + 200, since: base(50)))
        #expect(BulkRowSearch.mayBeNew(100, next: 2 * wrap, since: base(wrap)))
        // Frozen: the row looks newer than it is, which only costs time.
        #expect(BulkRowSearch.mayBeNew(7, next: 3 * wrap + 10, since: base(3 * wrap)))
    }
}
