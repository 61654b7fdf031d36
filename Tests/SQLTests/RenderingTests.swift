import Testing
import TomboloModel
import TomboloSQL

@Suite("Predicates become SQL")
struct RenderingTests {
    let schema: Schema

    init() throws {
        schema = try Schema([
            ClassSchema(
                name: "Talk",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true),
                    Column(name: "title", type: .string), Column(name: "shortURL", type: .string, isOptional: true),
                    Column(name: "seats", type: .int(bits: 16)),
                    Column(name: "rating", type: .double, isOptional: true),
                    Column(name: "room", type: .link(to: "Room"), isOptional: true),
                ]),
            ClassSchema(
                name: "Room", table: "the \"room\"",
                columns: [
                    Column(name: "code", type: .string, isPrimaryKey: true), Column(name: "name", type: .string),
                    Column(name: "venue", type: .link(to: "Venue"), isOptional: true),
                ]),
            ClassSchema(
                name: "Venue",
                columns: [
                    Column(name: "_id", type: .uuid, isPrimaryKey: true), Column(name: "city", type: .string),
                ]),
        ])
    }

    private func check(
        _ predicate: Predicate, sqlite: String, postgresql: String, _ parameters: [SQLParameter],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let light = try predicate.sql(.sqlite, className: "Talk", in: schema, alias: "t")
        #expect(light == SQLFragment(sql: sqlite, parameters: parameters), sourceLocation: location)
        let heavy = try predicate.sql(.postgresql, className: "Talk", in: schema, alias: "t", firstParameter: 7)
        #expect(heavy.sql == postgresql, sourceLocation: location)
    }

    @Test("Comparisons of required columns are plain")
    func required() throws {
        let seats = SQLParameter(.int(100_000), .int(bits: 64))
        try check(
            .compare(PropertyPath("seats"), .less, .int(100_000)), sqlite: "(\"t\".\"seats\" < ?)",
            postgresql: "(\"t\".\"seats\" < $7)", [seats])
        try check(
            .compare(PropertyPath("seats"), .notEqual, .int(100_000)), sqlite: "(\"t\".\"seats\" <> ?)",
            postgresql: "(\"t\".\"seats\" <> $7)", [seats])
    }

    @Test("Comparisons of optional columns are never NULL")
    func optional() throws {
        let half = SQLParameter(.double(0.5), .double)
        let rating = PropertyPath("rating")
        try check(
            .compare(rating, .equal, .double(0.5)),
            sqlite: "(\"t\".\"rating\" = ? AND \"t\".\"rating\" IS NOT NULL)",
            postgresql: "(\"t\".\"rating\" = $7 AND \"t\".\"rating\" IS NOT NULL)", [half])
        try check(
            .compare(rating, .notEqual, .double(0.5)), sqlite: "(\"t\".\"rating\" <> ? OR \"t\".\"rating\" IS NULL)",
            postgresql: "(\"t\".\"rating\" <> $7 OR \"t\".\"rating\" IS NULL)", [half])
        try check(
            .compare(rating, .equal, .null), sqlite: "(\"t\".\"rating\" IS NULL)",
            postgresql: "(\"t\".\"rating\" IS NULL)", [])
        try check(
            .isIn(rating, [.double(0.5), .null, .double(0.5)]),
            sqlite: "(\"t\".\"rating\" IN (?) OR \"t\".\"rating\" IS NULL)",
            postgresql: "(\"t\".\"rating\" = ANY ($7) OR \"t\".\"rating\" IS NULL)", [half])
    }

    @Test("Links are only followed to rows that count as present")
    func reachedLinks() throws {
        var builder = try SQLBuilder(.postgresql, schema: schema, className: "Talk", alias: "t")
        let hasNoCity = Predicate.compare(PropertyPath(["room", "venue", "city"]), .equal, .null)
        builder.isReached = { "\"\($1)\".\"gone\" IS NULL /* \($0.name) */" }
        let reached = try builder.condition(hasNoCity)
        #expect(
            reached.contains(
                "AND \"link1\".\"gone\" IS NULL /* Room */ AND \"link2\".\"_id\" = \"link1\".\"venue\" "
                    + "AND \"link2\".\"gone\" IS NULL /* Venue */"), "\(reached)")
        builder.isReached = nil
        #expect(!(try builder.condition(hasNoCity).contains("gone")))
    }

    @Test("A link compares with keys of its target's type")
    func links() throws {
        try check(
            .compare(PropertyPath("room"), .equal, .string("H1")),
            sqlite: "(\"t\".\"room\" = ? AND \"t\".\"room\" IS NOT NULL)",
            postgresql: "(\"t\".\"room\" = $7 AND \"t\".\"room\" IS NOT NULL)", [SQLParameter(.string("H1"), .string)])
    }

    @Test("Paths become scalar subqueries")
    func paths() throws {
        let city =
            "(SELECT \"link2\".\"city\" FROM \"the \"\"room\"\"\" AS \"link1\", \"venue\" AS \"link2\" "
            + "WHERE \"link1\".\"code\" = \"t\".\"room\" AND \"link2\".\"_id\" = \"link1\".\"venue\")"
        try check(
            .compare(PropertyPath(["room", "venue", "city"]), .notEqual, .string("Ulm")),
            sqlite: "coalesce(\(city) <> ?, TRUE)", postgresql: "coalesce(\(city) <> $7, TRUE)",
            [SQLParameter(.string("Ulm"), .string)])
    }

    @Test("Text tests don't use LIKE")
    func text() throws {
        let title = "\"t\".\"title\""
        try check(
            .text(PropertyPath("title"), .contains, "A%", ignoringCase: true),
            sqlite: "(instr(lower(\(title)), ?) > 0)",
            postgresql: "(strpos(lower(\(title) COLLATE \"C\"), $7) > 0)", [SQLParameter(.string("a%"), .string)])
        try check(
            .text(PropertyPath("title"), .beginsWith, "ab", ignoringCase: false),
            sqlite: "(substr(\(title), 1, ?) = ?)", postgresql: "(starts_with(\(title), $7))",
            [SQLParameter(.int(2), .int(bits: 64)), SQLParameter(.string("ab"), .string)])
        try check(
            .text(PropertyPath("title"), .endsWith, "ab", ignoringCase: false),
            sqlite: "(substr(\(title), -?) = ?)", postgresql: "(right(\(title), length($7::text)) = $7)",
            [SQLParameter(.int(2), .int(bits: 64)), SQLParameter(.string("ab"), .string)])
        try check(
            .text(PropertyPath("shortURL"), .contains, "", ignoringCase: false),
            sqlite: "(\"t\".\"short_url\" IS NOT NULL)", postgresql: "(\"t\".\"short_url\" IS NOT NULL)", [])
    }

    @Test("Negations are pushed down to single tests")
    func negation() throws {
        let predicate = Predicate.not(
            .and([
                .compare(PropertyPath("seats"), .equal, .int(1)), .not(.constant(false)),
                .or([.compare(PropertyPath("seats"), .equal, .int(2))]),
            ]))
        try check(
            predicate, sqlite: "((NOT (\"t\".\"seats\" = ?)) OR (NOT (\"t\".\"seats\" = ?)) OR FALSE)",
            postgresql: "((NOT (\"t\".\"seats\" = $7)) OR (NOT (\"t\".\"seats\" = $8)) OR FALSE)",
            [SQLParameter(.int(2), .int(bits: 64)), SQLParameter(.int(1), .int(bits: 64))])
        try check(.and([]), sqlite: "TRUE", postgresql: "TRUE", [])
        try check(.or([]), sqlite: "FALSE", postgresql: "FALSE", [])
    }

    @Test("Several expressions share one statement's parameters")
    func builder() throws {
        var builder = try SQLBuilder(.postgresql, schema: schema, className: "Talk", firstParameter: 2)
        let first = try builder.condition(.compare(PropertyPath("seats"), .equal, .int(1)))
        let second = try builder.condition(.compare(PropertyPath("seats"), .equal, .int(2)))
        #expect(first == "(\"talk\".\"seats\" = $2)")
        #expect(second == "(\"talk\".\"seats\" = $3)")
        #expect(builder.parameters.map(\.value) == [.int(1), .int(2)])
        #expect(
            try builder.orderBy([SQLSort(PropertyPath("rating"), ascending: false), SQLSort(PropertyPath("title"))])
                == "\"talk\".\"rating\" DESC NULLS LAST, \"talk\".\"title\" ASC")
    }

    @Test("A predicate that doesn't fit the class is refused")
    func refused() {
        #expect(throws: ValueError.self) {
            try Predicate.compare(PropertyPath("seats"), .equal, .string("1")).sql(
                .sqlite, className: "Talk", in: schema)
        }
        #expect(throws: ValueError.self) { try Predicate.constant(true).sql(.sqlite, className: "Tlak", in: schema) }
        #expect(throws: ValueError.self) {
            try SQLBuilder(.sqlite, schema: schema, className: "Talk").orderBy([SQLSort(PropertyPath("nothing"))])
        }
    }

    @Test("An index on an optional column serves equality")
    func index() throws {
        let database = try SQLiteDatabase(schema)
        try database.execute("CREATE INDEX rating_index ON talk (rating)")
        let condition = try Predicate.compare(PropertyPath("rating"), .equal, .double(1)).sql(
            .sqlite, className: "Talk", in: schema)
        let plan = try database.plan(of: "SELECT * FROM talk WHERE \(condition.sql)", condition.parameters)
        #expect(plan.contains { $0.contains("USING INDEX rating_index") }, "\(plan)")
    }
}
