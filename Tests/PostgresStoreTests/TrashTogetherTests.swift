import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore
import TomboloSyncProtocol
import TomboloSyncSession

final class Folder: Object {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var parent: Folder?
    override class func isTrashable() -> Bool { true }
}

final class Page: Object {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var title: String
    @Persisted var folder: Folder?
    @Persisted var cover: Picture?
    @Persisted var tags: List<Label>
    override class func isTrashable() -> Bool { true }
    override class func uniqueProperties() -> [[String]] { [["folder", "title"]] }
}

final class Picture: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var page: Page?
    override class func isTrashable() -> Bool { true }
}

/// A class without a trash.
final class Label: Object {
    @Persisted(primaryKey: true) var _id: UUID
    @Persisted var page: Page?
}

@Suite("An object takes the objects that belong to it into the trash", .serialized)
struct TrashTogetherTests {
    private static let client = ClientID(rawValue: 11)

    private func withDatabase(_ body: (TestDatabase, PostgresConnection) async throws -> Void) async throws {
        let schema = try Schema.of([Folder.self, Page.self, Picture.self, Label.self])
        let database = try await TestDatabase.make(schema)
        let connection = try await database.connect()
        _ = try await database.store.openClient(Self.client, user: "ada", acknowledged: 0)
        try await connection.execute(
            """
            INSERT INTO folder (_id, parent) VALUES ('top', NULL), ('inner', 'top'), ('other', NULL);
            INSERT INTO page (_id, title, folder) VALUES ('p', 'one', 'inner'), ('q', 'two', 'other');
            INSERT INTO picture (_id, page) VALUES (1, 'p'), (2, 'q');
            UPDATE page SET cover = CASE _id WHEN 'p' THEN 1 ELSE 2 END;
            INSERT INTO label (_id, page) VALUES ('11111111-2222-3333-4444-555555555555', 'p');
            INSERT INTO page_tags (_id, owner, rank, target)
            VALUES ('\\x000000000000000000000001', 'p', 'a', '11111111-2222-3333-4444-555555555555')
            """)
        try await body(database, connection)
        await connection.close()
        await database.finish()
    }

    private func inTrash(_ connection: PostgresConnection) async throws -> [String] {
        try await connection.query(
            """
            SELECT t.key FROM (SELECT _id AS key, trashed_at FROM folder UNION ALL SELECT _id, trashed_at FROM page
                UNION ALL SELECT _id::text, trashed_at FROM picture) t WHERE t.trashed_at IS NOT NULL ORDER BY t.key
            """
        ).map { try $0[0].string }
    }

    /// How many different times, people and groups the objects in the trash have.
    private func groups(_ connection: PostgresConnection) async throws -> Int {
        try await connection.query(
            """
            SELECT count(DISTINCT (t.trashed_at, t.trashed_by, t.trash_group))::int FROM (
                SELECT trashed_at, trashed_by, trash_group FROM folder
                UNION ALL SELECT trashed_at, trashed_by, trash_group FROM page
                UNION ALL SELECT trashed_at, trashed_by, trash_group FROM picture) t WHERE t.trashed_at IS NOT NULL
            """)[0, 0].int
    }

    private func erase(_ name: String, _ key: Value, _ number: Int64, _ database: TestDatabase) async throws
        -> UploadResult
    {
        let index = try #require(database.schema.index(of: name))
        _ = try await database.store.makeTick()
        let base = try await database.store.latestTick()
        let upload = Upload(
            client: Self.client,
            changeset: Changeset(
                number: number, base: base.number, stamp: Stamp(microseconds: base.time.microseconds + 1),
                instructions: [.erase(ObjectReference(classIndex: index, key: key))]),
            permit: { _ in nil })
        return try #require(try await database.store.upload([upload]).first)
    }

    @Test(
        "the function, a device's erase and plain SQL move the same objects, as one group with one time and person",
        arguments: ["function", "device", "SQL"])
    func together(_ way: String) async throws {
        try await withDatabase { database, connection in
            switch way {
            case "function": try await connection.execute("SELECT tombolo.trash('Folder', 'top', 'ada', NULL)")
            case "device": #expect(try await erase("Folder", .string("top"), 1, database) == .applied(lost: 0))
            default:
                try await connection.execute(
                    "UPDATE folder SET trashed_at = now(), trashed_by = 'ada' WHERE _id = 'top'")
            }
            // The page and its cover link to each other; objects in other folders stay.
            #expect(try await inTrash(connection) == ["1", "inner", "p", "top"])
            #expect(try await groups(connection) == 1)
            let folder = try await connection.query("SELECT trashed_by, trash_group FROM folder WHERE _id = 'top'")
            #expect(try folder[0][0].string == "ada")
            let group = try #require(try folder[0][1].nonNull?.uuid)
            // Objects of a class without a trash, and list elements, stay as they are.
            #expect(try await connection.query("SELECT 1 FROM label WHERE page = 'p'").count == 1)
            #expect(try await connection.query("SELECT 1 FROM page_tags WHERE owner = 'p'").count == 1)
            let back = try await connection.query("SELECT tombolo.restore_group($1)", [.uuid(group)])
            #expect(try back[0][0].int == 4)
            #expect(try await inTrash(connection) == [])
            let page = try await connection.query(
                """
                SELECT 1 FROM page p JOIN picture x ON p.cover = x._id AND x.page = p._id
                JOIN folder f ON p.folder = f._id AND f.parent = 'top' WHERE p._id = 'p'
                """)
            #expect(page.count == 1)
        }
    }

    @Test("an object that's already in the trash keeps its group, and is restored with that group only")
    func earlier() async throws {
        try await withDatabase { _, connection in
            let (first, second) = (UUID(), UUID())
            for (name, key, group) in [("Page", "p", first), ("Folder", "top", second)] {
                try await connection.query(
                    "SELECT tombolo.trash($1, $2, 'ada', $3)", [.text(name), .text(key), .uuid(group)])
            }
            #expect(try await groups(connection) == 2)
            try await connection.query("SELECT tombolo.restore_group($1)", [.uuid(second)])
            #expect(try await inTrash(connection) == ["1", "p"])
            try await connection.query("SELECT tombolo.restore_group($1)", [.uuid(first)])
            #expect(try await inTrash(connection) == [])
        }
    }

    @Test("objects linked by a property with goes_along off stay out of the trash")
    func independent() async throws {
        try await withDatabase { _, connection in
            try await connection.execute(
                """
                UPDATE tombolo.class_column SET goes_along = false
                WHERE name = 'folder' AND class = (SELECT id FROM tombolo.class WHERE name = 'Page');
                SELECT tombolo.trash('Folder', 'top', 'ada', NULL)
                """)
            #expect(try await inTrash(connection) == ["inner", "top"])
        }
    }

    @Test("each object that one statement moves has its own group, with the objects that belong to it")
    func manyAtOnce() async throws {
        try await withDatabase { _, connection in
            try await connection.execute("UPDATE folder SET trashed_at = now() WHERE parent IS NULL")
            #expect(try await inTrash(connection) == ["1", "2", "inner", "other", "p", "q", "top"])
            #expect(try await groups(connection) == 2)
        }
    }

    @Test("an object with too many others belonging to it isn't moved, even by a device, and the message says why")
    func bound() async throws {
        try await withDatabase { database, connection in
            let limit = TrashLimits.takenAlong
            try await connection.execute(
                "INSERT INTO page (_id, title, folder) SELECT 'x' || n, n, 'other' FROM generate_series(1, \(limit - 1)) n"
            )
            do {
                try await connection.execute("SELECT tombolo.trash('Folder', 'other', 'ada', NULL)")
                Issue.record("nothing was refused")
            } catch let error as PostgresError {
                #expect(error.code == .checkViolation && error.constraintName == TrashLimits.constraint)
                #expect(error.message.contains("\(limit) objects"))
            }
            guard case .applied(_, let refusals) = try await erase("Folder", .string("other"), 1, database) else {
                Issue.record("the upload stopped")
                return
            }
            #expect(refusals.map(\.message).first?.contains("\(limit) objects") == true, "\(refusals)")
            #expect(try await inTrash(connection) == [])
            try await connection.execute(
                "DELETE FROM page WHERE _id = 'x1'; SELECT tombolo.trash('Folder', 'other', 'ada', NULL)")
            #expect(try await inTrash(connection).count == limit + 1)
        }
    }

    @Test("a chain of any depth is moved, and a ring of objects terminates")
    func depth() async throws {
        try await withDatabase { _, connection in
            try await connection.execute(
                """
                INSERT INTO folder (_id, parent)
                SELECT 'f' || n, CASE WHEN n > 1 THEN 'f' || n - 1 END FROM generate_series(1, 3000) n;
                UPDATE folder SET parent = 'f3000' WHERE _id = 'f1';
                SELECT tombolo.trash('Folder', 'f7', 'ada', NULL)
                """)
            #expect(try await inTrash(connection).count == 3_000)
            #expect(try await groups(connection) == 1)
        }
    }

    @Test("editing an object in the trash leaves it there")
    func edits() async throws {
        try await withDatabase { database, connection in
            let base = try #require(try await database.store.makeTick())
            try await connection.execute(
                "SELECT tombolo.trash('Page', 'p', 'ada', NULL); UPDATE page SET title = 'new', folder = NULL")
            #expect(try await inTrash(connection) == ["1", "p"])
            let index = try #require(database.schema.index(of: "Page"))
            let upload = Upload(
                client: Self.client,
                changeset: Changeset(
                    number: 1, base: base.number, stamp: Stamp(microseconds: base.time.microseconds + 1),
                    instructions: [
                        .set(
                            ObjectReference(classIndex: index, key: .string("p")),
                            [FieldWrite(column: 1, value: .string("newer"))])
                    ]), permit: { _ in nil })
            #expect(try await database.store.upload([upload]) == [.applied(lost: 1)])
            #expect(try await inTrash(connection) == ["1", "p"])
        }
    }

    @Test("devices learn of every object that was moved")
    func devices() async throws {
        try await withDatabase { database, connection in
            let base = try #require(try await database.store.makeTick())
            #expect(try await erase("Folder", .string("top"), 1, database) == .applied(lost: 0))
            _ = try #require(try await database.store.makeTick())
            let gone = try await database.store.withReader { try await $0.difference(from: base) }
            #expect(gone.changes.count == 4)
            #expect(gone.changes.allSatisfy { $0.old != nil && $0.new == nil })
        }
    }

    private func reasons(_ connection: PostgresConnection) async throws -> [String?] {
        try await connection.query(
            """
            SELECT t.trash_reason FROM (SELECT trash_reason, trashed_at FROM folder
                UNION ALL SELECT trash_reason, trashed_at FROM page
                UNION ALL SELECT trash_reason, trashed_at FROM picture) t
            WHERE t.trashed_at IS NOT NULL OR t.trash_reason IS NOT NULL
            """
        ).map { try $0[0].nonNull?.string }
    }

    @Test("the reason is stored with the object, and removed however the object is restored")
    func reason() async throws {
        try await withDatabase { database, connection in
            for way in ["function", "plain SQL", "create"] {
                try await connection.execute("SELECT tombolo.trash('Folder', 'top', 'ada', NULL, ' No longer needed ')")
                #expect(try await reasons(connection) == Array(repeating: "No longer needed", count: 4), "\(way)")
                switch way {
                case "function":
                    try await connection.execute(
                        "SELECT tombolo.restore_group((SELECT trash_group FROM folder WHERE _id = 'top'))")
                case "plain SQL":
                    // The way an earlier version restores.
                    for table in ["folder", "page", "picture"] {
                        try await connection.execute(
                            "UPDATE \(table) SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL")
                    }
                default:
                    let index = try #require(database.schema.index(of: "Folder"))
                    _ = try await database.store.makeTick()
                    let base = try await database.store.latestTick()
                    let upload = Upload(
                        client: Self.client,
                        changeset: Changeset(
                            number: 1, base: base.number, stamp: Stamp(microseconds: base.time.microseconds + 1),
                            instructions: [
                                .create(ObjectReference(classIndex: index, key: .string("top")), [])
                            ]), permit: { _ in nil })
                    #expect(try await database.store.upload([upload]).first == .applied(lost: 0))
                    #expect(
                        try await connection.query("SELECT trash_reason FROM folder WHERE _id = 'top'")[0][0].isNull)
                    continue
                }
                #expect(try await reasons(connection) == [], "\(way)")
            }
        }
    }

    @Test("the function's reason is still optional, a device's erase has none, and an overlong one is refused")
    func withoutReason() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("SELECT tombolo.trash('Page', 'q', 'ada', NULL)")
            #expect(try await reasons(connection) == [nil, nil])
            #expect(try await erase("Folder", .string("top"), 1, database) == .applied(lost: 0))
            #expect(try await reasons(connection).compactMap(\.self) == [])
            await #expect {
                try await connection.execute(
                    "SELECT tombolo.trash('Folder', 'other', 'ada', NULL, repeat('é', \(TrashReason.byteLimit / 2 + 1)))"
                )
            } throws: { ($0 as? PostgresError)?.message.contains("the reason is longer") == true }
        }
    }
}
