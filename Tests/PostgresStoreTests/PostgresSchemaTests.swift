import PostgresClient
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore

@Suite(.serialized) struct PostgresSchemaTests {
    private func schema(_ columns: [Column], extra: [ClassSchema] = []) throws -> Schema {
        try Schema(
            [ClassSchema(name: "Thing", columns: [Column(name: "_id", type: .string, isPrimaryKey: true)] + columns)]
                + extra)
    }

    private func withConnection(_ body: (PostgresConnection) async throws -> Void) async throws {
        let connection = try await PostgresConnection.connect(try await TestCluster.shared().createDatabase())
        try await body(connection)
        await connection.close()
    }

    @Test("An installed schema needs no further steps, and reinstalling it does nothing")
    func installing() async throws {
        try await withConnection { connection in
            let schema = try TestModel.schema()
            try await PostgresSchema.install(schema, on: connection)
            let difference = PostgresSchema.difference(from: try await PostgresCatalog.read(connection), to: schema)
            #expect(difference.steps.map(\.name) == [])
            #expect(difference.problems == [])
            // Every step is idempotent.
            for step in PostgresSchema.statements(for: schema) { try await connection.execute(step.sql) }
        }
    }

    @Test("A later model adds columns to tables with rows and keeps their identifiers")
    func additions() async throws {
        try await withConnection { connection in
            let old = try schema([Column(name: "zeta", type: .string)])
            try await PostgresSchema.install(old, on: connection)
            try await connection.execute("INSERT INTO thing VALUES ('a', 'x')")
            let identifiers = try await PostgresCatalog.read(connection).identifiers
            let new = try schema(
                [
                    Column(name: "alpha", type: .int(bits: 16), isIndexed: true), Column(name: "zeta", type: .string),
                    Column(name: "at", type: .date), Column(name: "aarhus", type: .link(to: "Aa"), isOptional: true),
                ],
                extra: [ClassSchema(name: "Aa", columns: [Column(name: "_id", type: .uuid, isPrimaryKey: true)])])
            let difference = PostgresSchema.difference(from: try await PostgresCatalog.read(connection), to: new)
            #expect(difference.problems == [])
            try await PostgresSchema.install(new, on: connection)
            let now = try await PostgresCatalog.read(connection)
            #expect(PostgresSchema.difference(from: now, to: new).isEmpty)
            // Existing identifiers stay; new ones follow.
            #expect(now.identifiers.classes["Thing"] == identifiers.classes["Thing"])
            #expect(now.identifiers.columns["Thing"]?["zeta"] == identifiers.columns["Thing"]?["zeta"])
            #expect(Set(now.identifiers.columns["Thing"]?.values.map { $0 } ?? []).count == 5)
            let rows = try await connection.query("SELECT alpha, zeta, at::text, aarhus FROM thing")
            #expect(try rows[0][0].int64 == 0)
            // An old service doesn't know the new columns.
            let lines = try await LogLine.lines(
                connection, "INSERT INTO thing (_id, zeta) VALUES ('b', 'y'); UPDATE thing SET alpha = 3, zeta = 'z'")
            #expect(lines.map(\.operation) == ["c", "u", "u"])
            #expect(lines.last?.old["alpha"] == "0")
        }
    }

    @Test("A changed type and an optional made required are reported; a removed property is fine")
    func problems() async throws {
        try await withConnection { connection in
            try await PostgresSchema.install(
                try schema([Column(name: "a", type: .string), Column(name: "b", type: .string, isOptional: true)]),
                on: connection)
            let live = try await PostgresCatalog.read(connection)
            let other = try schema([Column(name: "a", type: .date), Column(name: "b", type: .string)])
            let difference = PostgresSchema.difference(from: live, to: other)
            #expect(difference.problems.count == 2)
            #expect(difference.problems[0].contains("thing.a"))
            // A removed property must not break inserts that don't know it.
            let fewer = PostgresSchema.difference(from: live, to: try schema([]))
            #expect(fewer.problems == [])
        }
    }

    @Test("A row's size limit covers the model's current columns and ignores existing rows")
    func rowSizeFollowsTheModel() async throws {
        try await withConnection { connection in
            func insert(_ key: String, _ columns: [String]) async throws {
                let values = columns.map { _ in "repeat('x', 10 << 20)" }
                try await connection.execute(
                    "INSERT INTO thing (\((["_id"] + columns).joined(separator: ", "))) "
                        + "VALUES (\((["'\(key)'"] + values).joined(separator: ", ")))")
            }
            try await PostgresSchema.install(try schema([]), on: connection)
            try await connection.execute("ALTER TABLE thing ADD COLUMN a text; ALTER TABLE thing ADD COLUMN b text")
            try await insert("before", ["a", "b"])
            for columns in [["a"], ["a", "b"]] {
                let model = try schema(columns.map { Column(name: $0, type: .string, isOptional: true) })
                try await PostgresSchema.install(model, on: connection)
                let live = try await PostgresCatalog.read(connection)
                #expect(PostgresSchema.difference(from: live, to: model).isEmpty)
            }
            let error = await #expect(throws: PostgresError.self) { try await insert("after", ["a", "b"]) }
            #expect(error?.constraintName == "thing_row_at_most_18_mib")
            try await insert("one", ["b"])
        }
    }

    @Test("Tables refuse values that devices can't hold")
    func checks() async throws {
        try await withConnection { connection in
            try await PostgresSchema.install(try TestModel.schema(), on: connection)
            for bad in [
                "INSERT INTO person (_id) VALUES ('\\x01')",
                "INSERT INTO person (_id, level) VALUES ('\\x000000000000000000000001', 128)",
                "INSERT INTO person (_id, height) VALUES ('\\x000000000000000000000001', 'NaN')",
                "INSERT INTO person (_id, born) VALUES ('\\x000000000000000000000001', 'infinity')",
                "INSERT INTO child (_id, parent) VALUES (1, 99)",
            ] {
                do {
                    try await connection.execute(bad)
                    Issue.record("accepted: \(bad)")
                } catch let error as PostgresError {
                    #expect(error.isRefusal, "\(error)")
                }
            }
        }
    }
}
