import PostgresClient
import ServerStoreConformance
import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore
import TomboloSyncProtocol
import TomboloSyncSession

/// Stores that are open while a migration renames their tables and columns.
@Suite(.serialized) struct RenameTests {
    private static let client = ClientID(rawValue: 5)

    private static func schema(isNew: Bool) throws -> Schema {
        func former(_ name: String) -> [String] { isNew ? [name] : [] }
        return try ModelDocument(
            app: "a",
            classes: [
                ModelClass(
                    name: isNew ? "Song" : "Track", table: isNew ? "song" : "track",
                    properties: [
                        ModelProperty(name: "_id", type: .string, isPrimaryKey: true),
                        ModelProperty(
                            name: isNew ? "title" : "name", type: .string, previousNames: former("name")),
                        ModelProperty(
                            name: isNew ? "labels" : "tags", type: .list(.string, isOptional: false),
                            previousNames: former("tags")),
                    ], uniqueProperties: [[isNew ? "title" : "name"]], previousNames: former("Track"))
            ]
        ).schema()
    }

    private func withStore(_ body: (TestDatabase) async throws -> Void) async throws {
        let database = try await TestDatabase.make(try Self.schema(isNew: false))
        _ = try await database.store.openClient(Self.client, user: "u", acknowledged: 0)
        try await body(database)
        await database.finish()
    }

    private func rename(_ database: TestDatabase) async throws {
        let schema = try Self.schema(isNew: true)
        try await database.pool.withConnection { try await PostgresSchema.install(schema, on: $0) }
    }

    private func upload(_ number: Int64, _ base: Tick, _ key: String, name: String) -> Upload {
        Upload(
            client: Self.client,
            changeset: Changeset(
                number: number, base: base.number, stamp: Stamp(microseconds: base.time.microseconds + number),
                instructions: [
                    .create(
                        ObjectReference(classIndex: 0, key: .string(key)),
                        [FieldWrite(column: 1, value: .string(name))])
                ]), permit: { _ in nil })
    }

    private func rows(_ store: PostgresServerStore) async throws -> [String] {
        try await store.withReader { reader in
            let found = Mutex<[String]>([])
            try await reader.rows(
                classIndex: 0, matching: .compare(PropertyPath("name"), .notEqual, .string("")), columns: [0, 1]
            ) { block in
                for row in 0..<block.rowCount {
                    found.withLock { $0.append("\(block.value(row: row, position: 1, schema: store.schema))") }
                }
            }
            return found.withLock { $0 }
        }
    }

    @Test("After a rename, uploads, reads and differences keep working under the old class names")
    func everything() async throws {
        try await withStore { database in
            let store = database.store
            try await database.pool.execute("INSERT INTO track (_id, name) VALUES ('a', 'First')")
            let base = try #require(try await store.makeTick())
            #expect(try await store.upload([upload(1, base, "b", name: "Second")]) == [.applied(lost: 0)])
            try await rename(database)

            // The same changeset is recognised as a duplicate, whatever its classes are now called.
            let newStore = try await PostgresServerStore.open(
                schema: try Self.schema(isNew: true), pool: database.pool)
            #expect(try await newStore.upload([upload(1, base, "b", name: "Second")]) == [.duplicate])
            #expect(try await store.upload([upload(2, base, "c", name: "Third")]) == [.applied(lost: 0)])
            guard let refusal = try await store.upload([upload(3, base, "d", name: "Third")]).first?.refusal
            else {
                Issue.record("A second object with the same unique value was accepted.")
                return
            }
            #expect(refusal.message.contains("Track") && refusal.message.contains("name"), "\(refusal.message)")
            let tick = try #require(try await store.makeTick())
            #expect(try await rows(store).count == 3)
            let difference = try await store.withReader { try await $0.difference(from: base) }
            #expect(difference.to == tick.number)
            #expect(difference.changes.map(\.reference.key) == [.string("b"), .string("c")])
            #expect(try await newStore.upload([upload(3, base, "d", name: "Third")]) == [.duplicate])
        }
    }

    @Test("A read that runs into a rename fails with a retryable error")
    func read() async throws {
        try await withStore { database in
            try await database.pool.execute("INSERT INTO track (_id, name) VALUES ('a', 'First')")
            _ = try await database.store.makeTick()
            try await rename(database)
            let error = await #expect(throws: PostgresStoreError.self) { try await rows(database.store) }
            #expect(error?.code == .renamed && error?.isRetryable == true)
            #expect(try await rows(database.store).count == 1)
        }
    }

    /// `A.y` gives up the column `two`, and `A.x` takes it.
    private static func chain(_ x: String, _ y: String) throws -> Schema {
        try ModelDocument(
            app: "a",
            classes: [
                ModelClass(
                    name: "A", table: "a",
                    properties: [
                        ModelProperty(name: "_id", type: .string, isPrimaryKey: true),
                        ModelProperty(name: "x", column: x, type: .string),
                        ModelProperty(name: "y", column: y, type: .string),
                    ])
            ]
        ).schema()
    }

    @Test("A column that takes over another's name is never read or written in its place")
    func exchanged() async throws {
        let database = try await TestDatabase.make(try Self.chain("one", "two"))
        let store = database.store
        _ = try await store.openClient(Self.client, user: "u", acknowledged: 0)
        try await database.pool.execute("INSERT INTO a (_id, one, two) VALUES ('k', 'of x', 'of y')")
        let base = try #require(try await store.makeTick())
        let renamed = try Self.chain("two", "three")
        try await database.pool.withConnection { try await PostgresSchema.install(renamed, on: $0) }
        func read() async throws -> String {
            try await store.withReader { reader in
                let found = Mutex("")
                try await reader.rows(classIndex: 0, matching: .constant(true), columns: [0, 2]) { block in
                    found.withLock { $0 = "\(block.value(row: 0, position: 1, schema: store.schema))" }
                }
                return found.withLock { $0 }
            }
        }
        let error = await #expect(throws: PostgresStoreError.self) { try await read() }
        #expect(error?.code == .renamed)
        #expect(try await read().contains("of y"))

        let other = try await PostgresServerStore.open(schema: renamed, pool: database.pool)
        let back = try Self.chain("two", "four")
        try await database.pool.withConnection { try await PostgresSchema.install(back, on: $0) }
        try await database.pool.execute("ALTER TABLE a ADD COLUMN three text NOT NULL DEFAULT 'nobody''s'")
        let written = Upload(
            client: Self.client,
            changeset: Changeset(
                number: 1, base: base.number, stamp: Stamp(microseconds: base.time.microseconds + 1),
                instructions: [
                    .set(
                        ObjectReference(classIndex: 0, key: .string("k")),
                        [FieldWrite(column: 2, value: .string("new"))])
                ]), permit: { _ in nil })
        #expect(try await other.upload([written]) == [.applied(lost: 0)])
        let row = try await database.pool.query("SELECT two, three, four FROM a")
        #expect(try (0..<3).map { try row[0][$0].string } == ["of x", "nobody's", "new"])
        await database.finish()
    }

    @Test("A dropped table isn't treated as a rename")
    func gone() async throws {
        try await withStore { database in
            _ = try await database.store.makeTick()
            try await database.pool.execute("ALTER TABLE track RENAME TO nobody_knows")
            await #expect(throws: PostgresError.self) { try await rows(database.store) }
        }
    }
}
