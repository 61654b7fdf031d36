import PostgresClient
import ServerStoreConformance
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

/// How uploads put objects into the trash and take them out.
@Suite(.serialized) struct UploadTrashTests: UploadingSuite {
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
            // Edits made without knowing of the erase lose; the slug is free for another note.
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
            for (result, code) in zip(results, [Refusal.Code.constraint, .notPermitted]) {
                guard let refusal = result.refusal else {
                    Issue.record("not refused: \(result)")
                    continue
                }
                #expect(refusal.code == code)
            }
            let row = try await connection.query(
                "SELECT slug, text, trashed_by, (SELECT count(*) FROM note_mentions) FROM note")
            #expect(try row[0][0].string == "s" && row[0][1].string == "theirs" && row[0][2].string == "bob")
            #expect(try row[0][3].int64 == 1)
        }
    }

    @Test("A create brings an object back from the trash only for a user who may restore it")
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
                    .refused(
                        Refusal(
                            .constraint, "Another Note already has this primary key.", className: "Note",
                            key: .string("a"))),
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
}
