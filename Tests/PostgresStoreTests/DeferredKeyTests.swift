import PostgresClient
import RandomValues
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

final class Shelf: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted(onDelete: .cascade) var parent: Shelf?
    @Persisted var marks: List<ShelfMark>
}

final class ShelfMark: EmbeddedObject {
    @Persisted var from: Shelf?
    @Persisted var to: Shelf?
}

final class Shortcut: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted(onDelete: .cascade) var place: Shelf?
    @Persisted var from: Shelf?
    @Persisted var to: Shelf?
}

/// Deletions in which a cascade and a nullified link reach the same row. PostgreSQL refuses them unless foreign keys are deferred.
@Suite(.serialized) struct DeferredKeyTests: UploadingSuite {
    private func withShelves(_ body: (TestDatabase, PostgresConnection) async throws -> Void) async throws {
        let database = try await TestDatabase.make(try Schema.of([Shelf.self, Shortcut.self]))
        let connection = try await database.connect()
        _ = try await database.store.openClient(ada, user: "u", acknowledged: 0)
        try await body(database, connection)
        await connection.close()
        await database.finish()
    }

    /// The number of shelves, marks and shortcuts.
    private func counts(_ connection: PostgresConnection) async throws -> [Int] {
        let row = try await connection.query(
            "SELECT (SELECT count(*) FROM shelf), (SELECT count(*) FROM shelf_marks), (SELECT count(*) FROM shortcut)")[
                0]
        return try (0..<3).map { try row[$0].int }
    }

    /// Shelf 1 contains 2, which contains 3. The marks and shortcuts of shelf 3 link to 1 and 2.
    private static let rows = """
        INSERT INTO shelf VALUES (1, NULL), (2, 1), (3, 2);
        INSERT INTO shelf_marks VALUES ('\\x000000000000000000000001', 3, 'a', 1, 1), ('\\x000000000000000000000002', 3, 'b', 2, 1);
        INSERT INTO shortcut VALUES (1, 3, 1, 1), (2, 3, 2, 1), (3, 2, 1, 3)
        """

    @Test("only the foreign keys of links that can meet in one row are deferrable")
    func columns() throws {
        let schema = try Schema.of([
            Shelf.self, Shortcut.self, Account.self, Parent.self, Child.self, Person.self, Tagged.self, Note.self,
        ])
        let keys = DeferredKeys(schema)
        var names: Set<String> = []
        for (index, columns) in keys.columns {
            names.formUnion(columns.map { "\(schema.classes[index].name).\(schema.classes[index].columns[$0].name)" })
        }
        #expect(
            names == [
                "Shelf.marks._owner", "Shelf.marks.from", "Shelf.marks.to", "Shortcut.place", "Shortcut.from",
                "Shortcut.to",
            ])
        #expect(keys.deleting.map { schema.classes[$0].name } == ["Shelf"])
    }

    @Test(
        "plain SQL can delete rows that it has just inserted, and rows that the same statement changes twice",
        arguments: [true, false])
    func plainSQL(inOneTransaction: Bool) async throws {
        try await withShelves { _, connection in
            if inOneTransaction { try await connection.execute("BEGIN") }
            try await connection.execute(Self.rows)
            try await connection.execute("DELETE FROM shelf WHERE _id = 1")
            if inOneTransaction { try await connection.execute("COMMIT") }
            #expect(try await counts(connection) == [0, 0, 0])
        }
    }

    @Test(
        "an upload can erase objects that it created itself and objects that existed before", arguments: [true, false])
    func upload(makesElement: Bool) async throws {
        try await withShelves { database, connection in
            let marks = try TestModel.index("Shelf.marks", database.schema)
            let shelf = { (key: Int64) in try reference(database, "Shelf", .int(key)) }
            var instructions: [Instruction] = []
            if makesElement {
                try await connection.execute("INSERT INTO shelf VALUES (1, NULL), (2, 1)")
                instructions = [
                    .create(try shelf(3), [FieldWrite(column: 1, value: .int(2))]),
                    .create(
                        ObjectReference(classIndex: marks, key: .objectId(ObjectId(high: 0, low: 1))),
                        [
                            FieldWrite(column: ElementColumn.owner, value: .int(3)),
                            FieldWrite(column: ElementColumn.rank, value: .string("a")),
                            FieldWrite(column: ElementColumn.content, value: .int(2)),
                            FieldWrite(column: ElementColumn.content + 1, value: .int(1)),
                        ]),
                ]
            } else {
                try await connection.execute(Self.rows)
            }
            instructions.append(.erase(try shelf(1)))
            let base = try #require(try await database.makeTick())
            let upload = Upload(
                client: ada,
                changeset: Changeset(
                    number: 1, base: base.number, stamp: Stamp(microseconds: base.time.microseconds + 1),
                    instructions: instructions), permit: { _ in nil })
            #expect(try await database.upload([upload]) == [.applied(lost: 0)])
            #expect(try await counts(connection) == [0, 0, 0])
        }
    }

    @Test("a dangling link is refused at once, or at commit if the transaction has already deleted rows")
    func refusals() async throws {
        try await withShelves { _, connection in
            try await connection.execute("INSERT INTO shelf VALUES (1, NULL), (2, NULL)")
            let insertion = "INSERT INTO shortcut VALUES (1, 9, NULL, NULL)"
            await #expect(throws: PostgresError.self) { try await connection.execute(insertion) }
            try await connection.execute("BEGIN; DELETE FROM shelf WHERE _id = 1")
            try await connection.execute(insertion)
            let error = await #expect(throws: PostgresError.self) { try await connection.execute("COMMIT") }
            #expect(error?.code == .foreignKeyViolation)
            #expect(try await counts(connection) == [2, 0, 0])
        }
    }

    @Test("a database without deferrable keys gets them, and loses the trigger that it no longer needs")
    func migration() async throws {
        try await withShelves { database, connection in
            for (table, column) in [
                ("shelf_marks", "_owner"), ("shelf_marks", "from"), ("shelf_marks", "to"), ("shortcut", "place"),
                ("shortcut", "from"), ("shortcut", "to"),
            ] {
                try await connection.execute(
                    "ALTER TABLE \(table) ALTER CONSTRAINT \(SchemaName.foreignKey(table, column)) NOT DEFERRABLE")
            }
            try await connection.execute(
                """
                DROP TRIGGER \(SchemaName.deferralTrigger) ON shelf;
                CREATE TRIGGER \(SchemaName.deferralTrigger) BEFORE DELETE ON shortcut
                    FOR EACH STATEMENT EXECUTE FUNCTION tombolo.defer_keys();
                ALTER TABLE shortcut ENABLE ALWAYS TRIGGER \(SchemaName.deferralTrigger)
                """)
            try await connection.execute(Self.rows)
            await #expect(throws: PostgresError.self) {
                try await connection.execute("DELETE FROM shelf WHERE _id = 1")
            }
            let difference = PostgresSchema.difference(
                from: try await PostgresCatalog.read(connection), to: database.schema)
            #expect(difference.problems.isEmpty && difference.steps.count == 8)
            for step in difference.steps { try await connection.execute(step.sql) }
            let rest = PostgresSchema.difference(from: try await PostgresCatalog.read(connection), to: database.schema)
            #expect(rest.steps.isEmpty, "\(rest.steps.map(\.name))")
            try await connection.execute("DELETE FROM shelf WHERE _id = 1")
            #expect(try await counts(connection) == [0, 0, 0])
        }
    }

    @Test("random deletions succeed and remove only what belongs to deleted shelves")
    func random() async throws {
        var random = SeededGenerator.printed(for: "random deletions")
        try await withShelves { _, connection in
            for _ in 0..<60 {
                var forest = Forest()
                let statements = (0..<Int.random(in: 4...14, using: &random)).map { forest.grow($0, using: &random) }
                let deleted = Set((0..<Int.random(in: 1...3, using: &random)).map { _ in forest.shelf(using: &random) })
                let split = Int.random(in: 0...statements.count, using: &random)
                try await connection.execute((["SELECT 1"] + statements[..<split]).joined(separator: ";"))
                try await connection.execute("BEGIN")
                try await connection.execute((["SELECT 1"] + statements[split...]).joined(separator: ";"))
                let list = deleted.map(String.init).joined(separator: ", ")
                try await connection.execute("DELETE FROM shelf WHERE _id IN (\(list))")
                try await connection.execute("COMMIT")
                forest.delete(deleted)
                #expect(try await Forest.read(connection) == forest.rows)
                try await connection.execute("DELETE FROM shortcut; DELETE FROM shelf")
            }
        }
    }
}

/// The expected rows, derived from the model's rules alone.
private struct Forest {
    /// Links by table and key: first the shelf that the row belongs to, then the links that are nullified.
    private var links: [String: [Int: (place: Int?, others: [Int?])]] = ["shelf": [:]]

    func shelf(using random: inout SeededGenerator) -> Int {
        links["shelf"]?.keys.sorted().randomElement(using: &random) ?? 0
    }

    /// Adds a row.
    /// - Returns: The statement that inserts the row into the database.
    mutating func grow(_ key: Int, using random: inout SeededGenerator) -> String {
        let shelves = links["shelf", default: [:]].keys.sorted()
        let place = shelves.randomElement(using: &random)
        let kind = place == nil ? 0 : Int.random(in: 0...3, using: &random)
        let others = (0..<2).map { _ in Bool.random(using: &random) ? nil : shelves.randomElement(using: &random) }
        func text(_ key: Int?) -> String { key.map(String.init) ?? "NULL" }
        switch kind {
        case 0, 1:
            let parent = Bool.random(using: &random) ? place : nil
            links["shelf"]?[key] = (parent, [])
            return "INSERT INTO shelf VALUES (\(key), \(text(parent)))"
        case 2:
            links["mark", default: [:]][key] = (place, others)
            let id = String(key, radix: 16)
            return "INSERT INTO shelf_marks VALUES ('\\x\(String(repeating: "0", count: 24 - id.count))\(id)', "
                + "\(text(place)), 'a', \(text(others[0])), \(text(others[1])))"
        default:
            let place = Bool.random(using: &random) ? place : nil
            links["shortcut", default: [:]][key] = (place, others)
            return "INSERT INTO shortcut VALUES (\(key), \(text(place)), \(text(others[0])), \(text(others[1])))"
        }
    }

    mutating func delete(_ keys: Set<Int>) {
        var gone = keys
        while let next = links["shelf"]?.first(where: {
            !gone.contains($0.key) && $0.value.place.map(gone.contains) == true
        }) {
            gone.insert(next.key)
        }
        for (table, rows) in links {
            links[table] = rows.filter { key, row in
                row.place.map(gone.contains) != true && (table != "shelf" || !gone.contains(key))
            }.mapValues { row in (row.place, row.others.map { $0.map(gone.contains) == true ? nil : $0 }) }
        }
    }

    /// One line for each row.
    var rows: [String] {
        links.flatMap { table, rows in
            rows.map { key, row in
                "\(table) \(key) \(([row.place] + row.others).map { $0.map(String.init) ?? "-" }.joined(separator: " "))"
            }
        }.sorted()
    }

    static func read(_ connection: PostgresConnection) async throws -> [String] {
        try await connection.query(
            """
            SELECT concat_ws(' ', 'shelf', _id, coalesce(parent::text, '-')) FROM shelf
            UNION ALL SELECT concat_ws(' ', 'mark', ('x' || right(encode(_element, 'hex'), 8))::bit(32)::int,
                _owner, coalesce("from"::text, '-'), coalesce("to"::text, '-')) FROM shelf_marks
            UNION ALL SELECT concat_ws(' ', 'shortcut', _id, coalesce(place::text, '-'),
                coalesce("from"::text, '-'), coalesce("to"::text, '-')) FROM shortcut
            """
        ).map { try $0[0].string }.sorted()
    }
}
