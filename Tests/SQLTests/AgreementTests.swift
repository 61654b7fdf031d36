import Foundation
import PostgresClient
import Testing
import TomboloModel
import TomboloSQL

@Suite("Predicates agree in memory, in SQLite and in PostgreSQL", .timeLimit(.minutes(15)))
struct AgreementTests {
    private static let predicatesPerSchema = 60

    @Test("Random predicates on random rows select the same rows", arguments: 1...12 as ClosedRange<UInt64>)
    func predicates(seed: UInt64) async throws {
        var random = try RandomRows(seed: seed)
        let schema = random.schema
        let a = try #require(schema["A"])
        let keyType = schema.storedType(of: a.columns[0])
        let sqlite = try SQLiteDatabase(schema)
        let postgres = try await PostgresDatabase(schema)
        for item in schema.classes {
            try sqlite.insert(random.rows[item.name] ?? [], into: item)
            try await postgres.insert(random.rows[item.name] ?? [], into: item)
        }
        let rows = random.rows["A"] ?? []
        for number in 0..<Self.predicatesPerSchema {
            let predicate = random.predicate()
            let expected = Set(
                rows.filter { row in predicate.evaluate { random.value(at: $0, of: row) } }.map { $0[0] })
            let light = try predicate.sql(.sqlite, className: "A", in: schema, alias: "x")
            let heavy = try predicate.sql(.postgresql, className: "A", in: schema, alias: "x")
            let lightRows = try sqlite.values(
                "SELECT \"_id\" FROM \"a\" AS \"x\" WHERE \(light.sql)", light.parameters, keyType)
            #expect(Set(lightRows) == expected, "seed \(seed), predicate \(number): \(predicate)\n\(light.sql)")
            let heavyRows = try await postgres.values(
                "SELECT \"_id\" FROM \"a\" AS \"x\" WHERE \(heavy.sql)", heavy.parameters, keyType)
            #expect(Set(heavyRows) == expected, "seed \(seed), predicate \(number): \(predicate)\n\(heavy.sql)")
            // The condition is never NULL, so its negation selects exactly the other rows.
            let others = try sqlite.values(
                "SELECT \"_id\" FROM \"a\" AS \"x\" WHERE NOT \(light.sql)", light.parameters, keyType)
            #expect(others.count + lightRows.count == rows.count, "seed \(seed): \(predicate)")
            let heavyOthers = try await postgres.values(
                "SELECT \"_id\" FROM \"a\" AS \"x\" WHERE NOT \(heavy.sql)", heavy.parameters, keyType)
            #expect(heavyOthers.count + heavyRows.count == rows.count, "seed \(seed): \(predicate)")
        }
        for _ in 0..<10 {
            let paths = random.sortPaths()
            let sorts = paths.map { SQLSort($0, ascending: $1) } + [SQLSort(PropertyPath("_id"))]
            let expected = rows.sorted { precedes($0, $1, sorts, random) }.map { $0[0] }
            let light = try SQLBuilder(.sqlite, schema: schema, className: "A").orderBy(sorts)
            #expect(
                try sqlite.values("SELECT \"_id\" FROM \"a\" ORDER BY \(light)", [], keyType) == expected,
                "seed \(seed): \(light)")
            let heavy = try SQLBuilder(.postgresql, schema: schema, className: "A").orderBy(sorts)
            #expect(
                try await postgres.values("SELECT \"_id\" FROM \"a\" ORDER BY \(heavy)", [], keyType) == expected,
                "seed \(seed): \(heavy)")
        }
        await postgres.pool.shutdown()
    }

    @Test("Text tests agree on all pairs of tricky texts", arguments: [false, true])
    func text(ignoringCase: Bool) async throws {
        let texts = [
            "", "a", "A", "ab", "AB", "aB", "é", "É", "e\u{301}", "E\u{301}", "\u{301}", "ß", "SS", "ſ", "K", "K", "İ",
            "i\u{307}", "👩‍🚀", "👩", "🚀", "%", "_", "a%b", "a_b", "\\", "'", "\"", " a", "a ", "aa", "aaa", "\u{1}",
            "\u{feff}", "\u{feff}a", "\u{10ffff}", "ÄRGER", "ärger", "x\u{85}",
        ]
        let schema = try Schema([
            ClassSchema(
                name: "A",
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true), Column(name: "t", type: .string),
                    Column(name: "n", type: .string, isOptional: true),
                ])
        ])
        let item = schema.classes[0]
        let rows = texts.enumerated().map { index, text in
            Row([.int(Int64(index)), .string(text), index % 3 == 0 ? .null : .string(text + (texts.last ?? ""))])
        }
        let sqlite = try SQLiteDatabase(schema)
        let postgres = try await PostgresDatabase(schema)
        try sqlite.insert(rows, into: item)
        try await postgres.insert(rows, into: item)
        for name in ["t", "n"] {
            for test in Predicate.TextTest.allCases {
                for text in texts {
                    let predicate = Predicate.text(PropertyPath(name), test, text, ignoringCase: ignoringCase)
                    let expected = rows.filter { predicate.matches($0, of: item) }.map { $0[0] }
                    let light = try predicate.sql(.sqlite, className: "A", in: schema)
                    let heavy = try predicate.sql(.postgresql, className: "A", in: schema)
                    #expect(
                        try sqlite.values(
                            "SELECT _id FROM a WHERE \(light.sql) ORDER BY 1", light.parameters, .int(bits: 64))
                            == expected, "\(predicate)")
                    #expect(
                        try await postgres.values(
                            "SELECT _id FROM a WHERE \(heavy.sql) ORDER BY 1", heavy.parameters, .int(bits: 64))
                            == expected, "\(predicate)")
                }
            }
        }
        await postgres.pool.shutdown()
    }

    private func precedes(_ left: Row, _ right: Row, _ sorts: [SQLSort], _ random: RandomRows) -> Bool {
        for sort in sorts {
            // Values behind a missing link sort last.
            guard let a = random.present(at: sort.path, of: left), let b = random.present(at: sort.path, of: right)
            else {
                let isPresent = (
                    random.present(at: sort.path, of: left) != nil, random.present(at: sort.path, of: right) != nil
                )
                if isPresent.0 != isPresent.1 { return isPresent.0 == sort.isAscending }
                continue
            }
            if Value.sortsBefore(a, b) { return sort.isAscending }
            if Value.sortsBefore(b, a) { return !sort.isAscending }
        }
        return false
    }

    @Test("Values round-trip through both databases", arguments: 100...105 as ClosedRange<UInt64>)
    func values(seed: UInt64) async throws {
        let random = try RandomRows(seed: seed)
        let sqlite = try SQLiteDatabase(random.schema)
        let postgres = try await PostgresDatabase(random.schema)
        for item in random.schema.classes {
            let rows = random.rows[item.name] ?? []
            try sqlite.insert(rows, into: item)
            let light = try sqlite.rows(of: item)
            #expect(light == rows, "seed \(seed), SQLite, \(item.name)")
            // Then copy SQLite's values to PostgreSQL, and PostgreSQL's to another SQLite file.
            try await postgres.insert(light, into: item)
            let heavy = try await postgres.rows(of: item)
            #expect(heavy == rows, "seed \(seed), PostgreSQL, \(item.name)")
            let second = try SQLiteDatabase(random.schema)
            try second.insert(heavy, into: item)
            #expect(try second.rows(of: item) == rows, "seed \(seed), SQLite again, \(item.name)")
        }
        await postgres.pool.shutdown()
    }

    @Test("The largest allowed query runs in both databases")
    func largest() async throws {
        let schema = try Schema([
            ClassSchema(
                name: "A",
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                    Column(name: "x", type: .int(bits: 64), isOptional: true),
                ])
        ])
        let item = schema.classes[0]
        let rows = (0..<10).map { Row([.int($0), $0 == 3 ? .null : .int($0 * 1_000)]) }
        let sqlite = try SQLiteDatabase(schema)
        let postgres = try await PostgresDatabase(schema)
        try sqlite.insert(rows, into: item)
        try await postgres.insert(rows, into: item)
        let x = PropertyPath("x")
        let wide = Predicate.or((0..<4_000).map { .compare(x, .equal, .int($0)) })
        let list = Predicate.isIn(x, (0..<4_090).map { .int($0) })
        let start = Predicate.compare(x, .less, .int(5_000))
        let levels = 0..<Predicate.maximumDepth
        func alternating(leafFirst: Bool) -> Predicate {
            levels.reduce(start) { inner, level in
                let leaf = Predicate.compare(x, .notEqual, .int(Int64(level * 1_000)))
                let parts = leafFirst ? [leaf, inner] : [inner, leaf]
                return level % 2 == 0 ? .and(parts) : .or(parts)
            }
        }
        let negations = levels.reduce(start) { inner, _ in .not(inner) }
        for predicate in [
            wide, .not(wide), list, alternating(leafFirst: true), alternating(leafFirst: false), negations,
        ] {
            let expected = rows.filter { predicate.matches($0, of: item) }.map { $0[0] }
            let light = try predicate.sql(.sqlite, className: "A", in: schema)
            #expect(
                try sqlite.values("SELECT _id FROM a WHERE \(light.sql) ORDER BY 1", light.parameters, .int(bits: 64))
                    == expected)
            let heavy = try predicate.sql(.postgresql, className: "A", in: schema)
            #expect(
                try await postgres.values(
                    "SELECT _id FROM a WHERE \(heavy.sql) ORDER BY 1", heavy.parameters, .int(bits: 64)) == expected)
        }
        // As large as the union of many subscriptions: deeper, and with more literals than PostgreSQL allows
        // parameters.
        let lists = (0..<20).map { part in
            Predicate.isIn(x, (0..<4_090).map { .int(Int64(part * 4_090 + $0)) } + (part == 7 ? [.null] : []))
        }
        for union in [Predicate.or(lists), .not(.or(lists)), .and([.or([alternating(leafFirst: true)]), .or(lists)])] {
            let expected = rows.filter { union.matches($0, of: item) }.map { $0[0] }
            let heavy = try union.sql(.postgresql, className: "A", in: schema)
            #expect(
                try await postgres.values(
                    "SELECT _id FROM a WHERE \(heavy.sql) ORDER BY 1", heavy.parameters, .int(bits: 64)) == expected)
        }
        await postgres.pool.shutdown()
    }
}
