import Testing
import TomboloModel

@Suite("Predicates are checked against the schema")
struct PredicateCheckTests {
    @Test(
        "A predicate that doesn't fit the class is refused, naming what doesn't fit",
        arguments: [
            (
                .compare(PropertyPath("titel"), .equal, .string("x")),
                "Talk has no property 'titel'; did you mean 'title'?"
            ),
            (.compare(PropertyPath("zzzzzzzzzz"), .equal, .string("x")), "Talk has no property 'zzzzzzzzzz'."),
            (
                .compare(PropertyPath("seats"), .equal, .string("x")),
                "In the query on Talk: 'seats' is of type int and cannot hold \"x\"."
            ),
            (
                .compare(PropertyPath("rating"), .less, .null),
                "Talk.rating can only be compared with nil by == and !=."
            ),
            (
                .compare(PropertyPath("rating"), .less, .double(.nan)),
                "In the query on Talk: 'rating' cannot be NaN: use an optional and nil instead."
            ),
            (
                .compare(PropertyPath(["title", "length"]), .equal, .int(1)),
                "Talk.title is not a link, so 'title.length' leads nowhere."
            ),
            (
                .compare(PropertyPath(["room", "nam"]), .equal, .string("")),
                "Room has no property 'nam'; did you mean 'name'?"
            ),
            (.compare(PropertyPath([]), .equal, .null), "The query on Talk has an empty property path."),
            (
                .text(PropertyPath("seats"), .contains, "1", ignoringCase: false),
                "Talk.seats is of type int; contains needs a string."
            ),
            (
                .text(PropertyPath("title"), .contains, "\0", ignoringCase: false),
                "In the query on Talk: 'title' cannot contain U+0000, which PostgreSQL can't store in text."
            ),
            (
                .isIn(PropertyPath("seats"), [.int(1), .bool(true)]),
                "In the query on Talk: 'seats' is of type int and cannot hold true."
            ),
            (
                .compare(PropertyPath("room"), .equal, .string("x")),
                "In the query on Talk: 'room' is of type objectId and cannot hold \"x\"."
            ),
        ] as [(Predicate, String)])
    func refused(predicate: Predicate, message: String) throws {
        let schema = try Schema.of([Talk.self])
        for form in [predicate, .not(predicate), .and([.constant(true), .or([predicate])])] {
            let error = #expect(throws: ValueError.self) { try form.check(for: "Talk", in: schema) }
            #expect(error?.message == message)
        }
    }

    @Test("A narrow integer may be compared with a number outside its range")
    func wideLiteral() throws {
        try Predicate.compare(PropertyPath("small"), .less, .int(1_000_000)).check(
            for: "Talk", in: Schema.of([Talk.self]))
    }

    @Test("An unknown class is named")
    func unknownClass() throws {
        let error = #expect(throws: ValueError.self) {
            try Predicate.constant(true).check(for: "Tlak", in: Schema.of([Talk.self]))
            try Predicate.compare(PropertyPath("x"), .equal, .null).check(for: "Tlak", in: Schema.of([Talk.self]))
        }
        #expect(error?.message == "There is no class Tlak in the schema.")
    }

    @Test("Subscriptions don't follow links")
    func pathLength() throws {
        let predicate = Predicate.compare(PropertyPath(["room", "name"]), .equal, .string("x"))
        let schema = try Schema.of([Talk.self])
        try predicate.check(for: "Talk", in: schema)
        let error = #expect(throws: ValueError.self) {
            try predicate.check(for: "Talk", in: schema, maximumPathLength: 1)
        }
        #expect(error?.message.hasPrefix("Talk.room.name follows a link") == true)
    }

    @Test("Depth and size are bounded")
    func bounds() throws {
        let schema = try Schema.of([Talk.self])
        var deep = Predicate.constant(true)
        for _ in 0..<Predicate.maximumDepth { deep = .not(deep) }
        try deep.check(for: "Talk", in: schema)
        #expect(throws: ValueError.self) { try Predicate.not(deep).check(for: "Talk", in: schema) }

        let seats = PropertyPath("seats")
        try Predicate.isIn(seats, (0..<4_095).map { .int($0) }).check(for: "Talk", in: schema)
        // The last list's literals count too, since the receiver counts them.
        let long = Predicate.isIn(seats, (0..<4_096).map { .int($0) })
        #expect(throws: ValueError.self) { try long.check(for: "Talk", in: schema) }
        try long.check(for: "Talk", in: schema, isBounded: false)
        let part = Predicate.constant(true)
        #expect(throws: ValueError.self) {
            try Predicate.and([Predicate](repeating: part, count: 4_096)).check(for: "Talk", in: schema)
        }
        #expect(throws: ValueError.self) {
            try Predicate.or([.isIn(seats, (0..<4_096).map { .int($0) }), part]).check(for: "Talk", in: schema)
        }
    }

    @Test("Subscriptions can't search for long text, wherever it appears; local queries can")
    func needles() throws {
        let schema = try Schema.of([Talk.self])
        let title = PropertyPath("title")
        for test in Predicate.TextTest.allCases {
            func query(_ count: Int) -> Predicate {
                .or([
                    .constant(false),
                    .not(.text(title, test, String(repeating: "é", count: count), ignoringCase: true)),
                ])
            }
            let most = Predicate.maximumNeedleByteCount / 2
            try query(most).check(for: "Talk", in: schema)
            let error = #expect(throws: ValueError.self) { try query(most + 1).check(for: "Talk", in: schema) }
            #expect(error?.message.contains("'title'") == true)
            #expect(error?.message.contains("the limit is \(Predicate.maximumNeedleByteCount).") == true)
            try query(most + 1).check(for: "Talk", in: schema, isBounded: false)
        }
        #expect(
            Predicate.and([
                .text(title, .contains, "a", ignoringCase: false), .text(title, .endsWith, "a", ignoringCase: false),
                .not(.or([.text(title, .contains, "b", ignoringCase: true), .constant(true)])),
            ]).searchCount == 2)
    }

    @Test("A name too long to be a typo isn't compared with others")
    func longNames() {
        let long = String(repeating: "a", count: String.nearestLengthLimit)
        #expect(long.nearest(in: [long + "b"]) == long + "b")
        #expect((long + "b").nearest(in: [long]) == nil)
    }
}
