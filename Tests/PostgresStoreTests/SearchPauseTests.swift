import PostgresClient
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

/// Searches must not slow down other users' devices.
@Suite struct SearchPauseTests {
    private static let search = Predicate.text(PropertyPath("name"), .contains, "7", ignoringCase: true)

    private func rowCount(_ name: String, _ predicate: Predicate, _ database: TestDatabase, _ reader: any TickReader)
        async throws -> Int
    {
        let index = try TestModel.index(name, database.schema)
        var count = 0
        try await reader.rows(classIndex: index, matching: predicate, columns: [0]) { count += $0.rowCount }
        return count
    }

    @Test("a search that pauses finds the same rows, counts and list elements as one that doesn't")
    func sameRows() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let polite = try await PostgresServerStore.open(
            schema: database.schema, pool: database.pool, hasOthers: { true })
        let connection = try await database.connect()
        try await connection.execute(
            "INSERT INTO parent SELECT n, 'parent ' || n FROM generate_series(1, 1000) n; "
                + "INSERT INTO note (_id, slug, text) SELECT 'n' || n, 's' || n, 'name ' || n FROM generate_series(1, 300) n"
        )
        _ = try await database.store.makeTick()
        let parent = try TestModel.index("Parent", database.schema)
        let text = Predicate.text(PropertyPath("text"), .contains, "7", ignoringCase: true)
        func read(_ store: PostgresServerStore) async throws -> [Int] {
            try await store.withReader { reader in
                [
                    try await rowCount("Parent", Self.search, database, reader),
                    try await rowCount("Note", .not(text), database, reader),
                    try await reader.count(classIndex: parent, matching: Self.search),
                    try await rowCount("Parent", .constant(true), database, reader),
                ]
            }
        }
        let expected = try await read(database.store)
        #expect(expected == [271, 300 - 57, 271, 1_000])
        #expect(try await read(polite) == expected)
        await connection.close()
        await database.finish()
    }

    @Test("a pause is drawn for each row examined, even where lists are read with their objects")
    func perRow() async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        try await connection.execute("SET enable_nestloop = off")
        let pause = try #require(SearchPause.condition(for: Self.search, alias: "o"))
        for sql in [
            "SELECT * FROM parent AS o WHERE \(pause) AND strpos(lower(o.name), '7') > 0",
            "SELECT * FROM child AS t JOIN parent AS o ON o._id = t.parent WHERE \(pause) AND strpos(o.name, '7') > 0",
        ] {
            let plan = try await connection.query("EXPLAIN \(sql)").map { try $0[0].string }
            let scan = try #require(plan.firstIndex { $0.contains("on parent o") })
            let filter = try #require(plan[scan...].first { $0.contains("Filter:") })
            #expect(filter.contains("pg_sleep"), "\(plan)")
        }
        await connection.close()
        await database.finish()
    }

    @Test("only searches pause, and larger searches pause more")
    func who() throws {
        #expect(SearchPause.condition(for: .constant(true), alias: "t") == nil)
        #expect(
            SearchPause.condition(for: .text(PropertyPath("name"), .beginsWith, "7", ignoringCase: true), alias: "t")
                == nil)
        let many = Predicate.or([Predicate](repeating: Self.search, count: 100))
        let (one, hundred) = (
            SearchPause.condition(for: Self.search, alias: "t"), SearchPause.condition(for: many, alias: "t")
        )
        #expect(try #require(one) != #require(hundred))
    }
}
