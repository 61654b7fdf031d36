import Foundation
import Testing
import TomboloModel

@Suite("Reading string predicates")
struct FilterFormatTests {
    private static let name = FilterOperand.property(PropertyPath("name"))
    private static let age = FilterOperand.property(PropertyPath("age"))
    private static let id = ObjectId(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c)
    private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private static func property(_ names: String...) -> FilterOperand { .property(PropertyPath(names)) }
    private static func int(_ value: Int64) -> FilterOperand { .literal(.int(value)) }
    private static func text(_ value: String) -> FilterOperand { .literal(.string(value)) }
    private static func age(_ comparison: Predicate.Comparison, _ value: Int64) -> Filter {
        .compare(age, comparison, int(value), [])
    }
    private static func anyDog(_ filter: Filter) -> Filter { .quantified(.any, PropertyPath("dogs"), filter) }

    private func check(
        _ format: String, _ arguments: [Any?], _ expected: Filter, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let schema = try Schema.owners
        do {
            let filter = try Filter(parsing: format, arguments: arguments, for: "Owner", in: schema)
            #expect(filter == expected, "\(format)", sourceLocation: location)
            try filter.check(for: "Owner", in: schema)
            // Object keys can't be arguments.
            if format.contains("%@"), arguments.contains(where: { $0 is Dog || $0 is [Dog] }) { return }
            // The printed form parses to the same filter, except for quantifiers with several conditions.
            let (printed, values) = filter.format()
            let again = try Filter(parsing: printed, arguments: values.map(Self.argument), for: "Owner", in: schema)
            #expect(again == filter, "\(format) → \(printed)", sourceLocation: location)
        } catch {
            Issue.record("\(format): \(error)", sourceLocation: location)
        }
    }

    private func check(
        _ format: String, _ expected: Filter, _ location: SourceLocation = #_sourceLocation
    ) throws { try check(format, [], expected, location) }

    private static func argument(_ value: Value) -> Any? {
        switch value {
        case .null: nil
        case .bool(let value): value
        case .int(let value): value
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): Date(microsecondsSince1970: value)
        case .objectId(let value): value
        case .uuid(let value): value
        case .decimal(let value): value
        }
    }

    @Test("Comparison operators, in every spelling")
    func operators() throws {
        let spellings: [(String, Predicate.Comparison)] = [
            ("==", .equal), ("=", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<", .less), ("<=", .lessOrEqual),
            ("=<", .lessOrEqual), (">", .greater), (">=", .greaterOrEqual), ("=>", .greaterOrEqual),
        ]
        for (symbol, comparison) in spellings {
            try check("age \(symbol) 5", Self.age(comparison, 5))
            try check("age\(symbol)5", Self.age(comparison, 5))
            try check("  age\n\(symbol)\t5 ", Self.age(comparison, 5))
            try check("(age) \(symbol) (5)", Self.age(comparison, 5))
            try check("((age \(symbol) 5))", Self.age(comparison, 5))
            try check("5 \(symbol) age", Self.age(mirrored(comparison), 5))
            try check("age \(symbol) %@", [5], Self.age(comparison, 5))
            try check("%@ \(symbol) age", [5], Self.age(mirrored(comparison), 5))
            try check("%K \(symbol) %d", ["age", 5], Self.age(comparison, 5))
            try check("age \(symbol) $0", [5], Self.age(comparison, 5))
            try check("self.age \(symbol) 5", Self.age(comparison, 5))
        }
    }

    private func mirrored(_ comparison: Predicate.Comparison) -> Predicate.Comparison {
        switch comparison {
        case .equal, .notEqual: comparison
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    @Test(
        "Numbers",
        arguments: [
            ("0", .int(0)), ("-1", .int(-1)), ("+7", .int(7)), ("1.5", .double(1.5)), ("-.5", .double(-0.5)),
            (".25", .double(0.25)), ("5.", .int(5)), ("1e2", .int(100)), ("1E-2", .double(0.01)),
            ("2.5e+1", .int(25)), ("0x1F", .int(31)), ("-0x10", .int(-16)), ("9223372036854775807", .int(.max)),
            ("-9223372036854775808", .int(.min)), ("9223372036854775808", .double(9_223_372_036_854_775_808)),
        ] as [(String, Value)])
    func numbers(text: String, value: Value) throws {
        try check("age < \(text)", .compare(Self.age, .less, .literal(value), []))
    }

    @Test("Numbers take the property's type")
    func numericTypes() throws {
        try check("score == 2", .compare(Self.property("score"), .equal, .literal(.double(2)), []))
        try check("ratio == 1.1", .compare(Self.property("ratio"), .equal, .literal(.double(Double(Float(1.1)))), []))
        try check(
            "ratio == %@", [1.1], .compare(Self.property("ratio"), .equal, .literal(.double(Double(Float(1.1)))), []))
        try check("age == %@", [5.0], Self.age(.equal, 5))
        try check("age == %f", [5.5], .compare(Self.age, .equal, .literal(.double(5.5)), []))
        try check("limit < 1000", .compare(Self.property("limit"), .less, Self.int(1_000), []))
        try check("isActive == 1", .compare(Self.property("isActive"), .equal, .literal(.bool(true)), []))
        try check("isActive = 0", .compare(Self.property("isActive"), .equal, .literal(.bool(false)), []))
        try check("age == %@", [NSNumber(value: 5)], Self.age(.equal, 5))
        try check("age == %@", [UInt8(5)], Self.age(.equal, 5))
    }

    @Test("Keywords in any case, and literals")
    func words() throws {
        for word in ["true", "TRUE", "YES", "yes", "True"] {
            try check("isActive == \(word)", .compare(Self.property("isActive"), .equal, .literal(.bool(true)), []))
        }
        for word in ["false", "NO", "no", "FALSE"] {
            try check("isActive != \(word)", .compare(Self.property("isActive"), .notEqual, .literal(.bool(false)), []))
        }
        for word in ["nil", "NULL", "NIL", "null"] {
            try check("nick == \(word)", .compare(Self.property("nick"), .equal, .literal(.null), []))
        }
        try check("nick == %@", [nil], .compare(Self.property("nick"), .equal, .literal(.null), []))
        try check("nick == %@", [NSNull()], .compare(Self.property("nick"), .equal, .literal(.null), []))
        try check("nick == %@", [String?.none as Any?], .compare(Self.property("nick"), .equal, .literal(.null), []))
        try check(
            "nick == %@", [String??.some("a") as Any?], .compare(Self.property("nick"), .equal, Self.text("a"), []))
        try check("age > nil", .compare(Self.age, .greater, .literal(.null), []))
        try check("TRUEPREDICATE", .constant(true))
        try check("falsepredicate", .constant(false))
        try check("NOT TRUEPREDICATE", .not(.constant(true)))
        try check("#in == 5", .compare(Self.property("in"), .equal, Self.int(5), []))
        try check("SELF.in == 5", .compare(Self.property("in"), .equal, Self.int(5), []))
        try check("#name == 'x'", .compare(Self.name, .equal, Self.text("x"), []))
    }

    @Test(
        "Text literals",
        arguments: [
            ("'a'", "a"), ("\"a\"", "a"), ("''", ""), ("'it''s", nil), ("'it\\'s'", "it's"), ("\"it's\"", "it's"),
            ("\"a\\\"b\"", "a\"b"), ("'a\\\\b'", "a\\b"), ("'\\n\\t\\r'", "\n\t\r"), ("'\\u00e9'", "é"), ("'é👩‍🚀'", "é👩‍🚀"),
            ("'%@ AND $0'", "%@ AND $0"), ("'\\q'", "q"), ("'a\nb'", "a\nb"), ("'open", nil), ("'\\", nil),
            ("'\\ud800'", nil), ("'\\u12'", nil),
        ] as [(String, String?)])
    func texts(text: String, value: String?) throws {
        if let value {
            try check("name == \(text)", .compare(Self.name, .equal, Self.text(value), []))
        } else {
            #expect(throws: FilterFormatError.self) {
                try Filter(parsing: "name == \(text)", for: "Owner", in: .owners)
            }
        }
    }

    @Test("Text tests and their options")
    func textTests() throws {
        let options: [(String, StringOptions)] = [
            ("", []), ("[c]", .caseInsensitive), ("[d]", .diacriticInsensitive),
            ("[cd]", [.caseInsensitive, .diacriticInsensitive]), ("[DC]", [.caseInsensitive, .diacriticInsensitive]),
            (" [c]", .caseInsensitive),
        ]
        for (text, value) in options {
            for test in Filter.TextTest.allCases {
                for word in [test.rawValue, test.rawValue.lowercased()] {
                    try check("name \(word)\(text) 'x*'", .text(Self.name, test, Self.text("x*"), value))
                    try check("name \(word)\(text) nick", .text(Self.name, test, Self.property("nick"), value))
                    try check("name \(word)\(text) %@", ["x"], .text(Self.name, test, Self.text("x"), value))
                }
            }
            try check("name ==\(text) 'x'", .compare(Self.name, .equal, Self.text("x"), value))
            try check("name !=\(text) nick", .compare(Self.name, .notEqual, Self.property("nick"), value))
            try check("name IN\(text) {'x', nil}", .isIn(Self.name, [.string("x"), .null], value))
            try check(
                "ANY tags CONTAINS\(text) 'x'",
                .quantified(.any, PropertyPath("tags"), .text(.element, .contains, Self.text("x"), value)))
        }
        try check("'abc' CONTAINS name", .text(Self.text("abc"), .contains, Self.name, []))
        try check(
            "photo BEGINSWITH %@", [Data([1])],
            .text(Self.property("photo"), .beginsWith, .literal(.data(Data([1]))), []))
    }

    @Test("Ranges and lists")
    func lists() throws {
        try check("age BETWEEN {1, 5}", .between(Self.age, Self.int(1), Self.int(5)))
        try check("age between %@", [[1, 5]], .between(Self.age, Self.int(1), Self.int(5)))
        try check(
            "age BETWEEN {%@, $x}".replacingOccurrences(of: "$x", with: "%@"), [1, 5],
            .between(Self.age, Self.int(1), Self.int(5)))
        try check("age IN {1, 2, 3}", .isIn(Self.age, [.int(1), .int(2), .int(3)], []))
        try check("age IN {}", .isIn(Self.age, [], []))
        try check("age in %@", [[1, 2]], .isIn(Self.age, [.int(1), .int(2)], []))
        try check("age IN %@", [[Int]()], .isIn(Self.age, [], []))
        try check("age IN %@", [Set([7])], .isIn(Self.age, [.int(7)], []))
        try check("age IN %@", [[1, 2] as NSArray], .isIn(Self.age, [.int(1), .int(2)], []))
        try check("nick IN %@", [["a", nil]], .isIn(Self.property("nick"), [.string("a"), .null], []))
        try check("age IN {%@, 2}", [[3, 4]], .isIn(Self.age, [.int(3), .int(4), .int(2)], []))
        try check("size IN %@", [[Size.small, .large]], .isIn(Self.property("size"), [.int(1), .int(3)], []))
        try check("NOT age IN {1}", .not(.isIn(Self.age, [.int(1)], [])))
    }

    @Test("NOT binds tighter than AND, AND tighter than OR; parentheses override")
    func logic() throws {
        let (a, b, c) = (Self.age(.equal, 1), Self.age(.equal, 2), Self.age(.equal, 3))
        try check("age == 1 AND age == 2", .and([a, b]))
        try check("age == 1 && age == 2 and age == 3", .and([a, b, c]))
        try check("age == 1 || age == 2 OR age == 3", .or([a, b, c]))
        try check("age == 1 OR age == 2 AND age == 3", .or([a, .and([b, c])]))
        try check("age == 1 AND age == 2 OR age == 3", .or([.and([a, b]), c]))
        try check("age == 1 AND (age == 2 OR age == 3)", .and([a, .or([b, c])]))
        try check("NOT age == 1 AND age == 2", .and([.not(a), b]))
        try check("!(age == 1 AND age == 2)", .not(.and([a, b])))
        try check("!!(age == 1)", .not(.not(a)))
        try check("NOT(age == 1)", .not(a))
        try check("(age) == (1) AND ((age) == 2)", .and([a, b]))
        try check("age == 1 AND TRUEPREDICATE", a)
        try check("age == 1 OR TRUEPREDICATE", .constant(true))
    }

    @Test("Paths through links and embedded objects")
    func paths() throws {
        try check("best.name == 'x'", .compare(Self.property("best", "name"), .equal, Self.text("x"), []))
        try check("best.friend.age > 1", .compare(Self.property("best", "friend", "age"), .greater, Self.int(1), []))
        try check("best == nil", .compare(Self.property("best"), .equal, .literal(.null), []))
        try check("home == nil", .compare(Self.property("home"), .equal, .literal(.null), []))
        try check("home.city == 'Ulm'", .compare(Self.property("home", "city"), .equal, Self.text("Ulm"), []))
        try check(
            "home.spot.x > 1.5", .compare(Self.property("home", "spot", "x"), .greater, .literal(.double(1.5)), []))
        try check("home.spot != NULL", .compare(Self.property("home", "spot"), .notEqual, .literal(.null), []))
        try check(
            "home.guest.home.street == 'x'",
            .compare(Self.property("home", "guest", "home", "street"), .equal, Self.text("x"), []))
        try check("spot.x == 1", .compare(Self.property("spot", "x"), .equal, .literal(.double(1)), []))
        try check(
            "%K.%K == 'x'", ["best", "name"], .compare(Self.property("best", "name"), .equal, Self.text("x"), []))
        try check("%K == 'x'", ["best.name"], .compare(Self.property("best", "name"), .equal, Self.text("x"), []))
        try check("name == nick", .compare(Self.name, .equal, Self.property("nick"), []))
        try check("age >= limit", .compare(Self.age, .greaterOrEqual, Self.property("limit"), []))
        try check("age < score", .compare(Self.age, .less, Self.property("score"), []))
        try check("name.@size > 3", .compare(.length(PropertyPath("name")), .greater, Self.int(3), []))
        let dog = Dog()
        dog._id = 4
        try check("best == %@", [dog], .compare(Self.property("best"), .equal, Self.int(4), []))
    }

    @Test("Values of every type")
    func types() throws {
        let date = Date(timeIntervalSince1970: 5)
        try check("born > %@", [date], .compare(Self.property("born"), .greater, .literal(.date(5_000_000)), []))
        try check("token == %@", [Self.uuid], .compare(Self.property("token"), .equal, .literal(.uuid(Self.uuid)), []))
        try check("_id == %@", [Self.id], .compare(Self.property("_id"), .equal, .literal(.objectId(Self.id)), []))
        for form in ["oid(\(Self.id))", "oid('\(Self.id)')", "OID(\"\(Self.id)\")", "objectid( \(Self.id) )"] {
            try check("_id == \(form)", .compare(Self.property("_id"), .equal, .literal(.objectId(Self.id)), []))
        }
        for form in ["uuid(\(Self.uuid))", "uuid('\(Self.uuid)')", "UUID(\(Self.uuid.uuidString.lowercased()))"] {
            try check("token == \(form)", .compare(Self.property("token"), .equal, .literal(.uuid(Self.uuid)), []))
        }
        try check("token IN {uuid(\(Self.uuid))}", .isIn(Self.property("token"), [.uuid(Self.uuid)], []))
        try check(
            "photo == %@", [Data([1, 2])], .compare(Self.property("photo"), .equal, .literal(.data(Data([1, 2]))), []))
        try check("size == %@", [Size.large], .compare(Self.property("size"), .equal, Self.int(3), []))
        try check("otherSize == 3", .compare(Self.property("otherSize"), .equal, Self.int(3), []))
        try check("weight > 70", .compare(Self.property("weight"), .greater, .literal(.double(70)), []))
        try check(
            "weight == %@", [Weight(kilograms: 70)],
            .compare(Self.property("weight"), .equal, .literal(.double(70)), []))
    }

    @Test("Decimals")
    func decimals() throws {
        let price = Self.property("price")
        func decimal(_ text: String) throws -> FilterOperand { .literal(.decimal(try #require(Decimal128(text)))) }
        try check("price == 1.10", .compare(price, .equal, decimal("1.10"), []))
        try check("price < 12345678901234567890.5", .compare(price, .less, decimal("12345678901234567890.5"), []))
        try check("price == %@", [3], .compare(price, .equal, decimal("3"), []))
        try check("price == %@", [0.1], .compare(price, .equal, decimal("0.1"), []))
        try check("price == %@", [Decimal(string: "2.5")], .compare(price, .equal, decimal("2.5"), []))
        try check("price IN {1, 2.5}", .isIn(price, [.decimal(1), .decimal(2.5)], []))
        try check(
            "prices.@sum > 1", .compare(.aggregate(.sum, PropertyPath("prices"), .element), .greater, decimal("1"), []))
    }

    @Test("Quantifiers over lists, LinkingObjects and embedded objects")
    func quantifiers() throws {
        let three = Filter.compare(Self.age, .greater, Self.int(3), [])
        for (word, quantifier) in [("ANY", .any), ("some", .any), ("ALL", .all), ("NONE", .none)]
            as [(String, Filter.Quantifier)]
        {
            try check("\(word) dogs.age > 3", .quantified(quantifier, PropertyPath("dogs"), three))
            try check(
                "\(word) scores > 3",
                .quantified(quantifier, PropertyPath("scores"), .compare(.element, .greater, Self.int(3), [])))
            try check(
                "\(word) dogs.puppies.age > 3", .quantified(quantifier, PropertyPath(["dogs", "puppies"]), three))
            try check(
                "\(word) best.puppies.age > 3", .quantified(quantifier, PropertyPath(["best", "puppies"]), three))
            try check(
                "\(word) dogs.friend.age > 3",
                .quantified(
                    quantifier, PropertyPath("dogs"),
                    .compare(Self.property("friend", "age"), .greater, Self.int(3), [])))
            try check(
                "\(word) visits.cost > 3",
                .quantified(
                    quantifier, PropertyPath("visits"), .compare(Self.property("cost"), .greater, Self.int(3), [])))
            try check(
                "\(word) visits.dog.age > 3",
                .quantified(
                    quantifier, PropertyPath("visits"), .compare(Self.property("dog", "age"), .greater, Self.int(3), [])
                ))
            try check(
                "\(word) visits.stops.minutes > 3",
                .quantified(
                    quantifier, PropertyPath(["visits", "stops"]),
                    .compare(Self.property("minutes"), .greater, Self.int(3), [])))
            try check(
                "\(word) dogs.age IN {1}", .quantified(quantifier, PropertyPath("dogs"), .isIn(Self.age, [.int(1)], []))
            )
            try check(
                "\(word) dogs.age BETWEEN {1, 2}",
                .quantified(quantifier, PropertyPath("dogs"), .between(Self.age, Self.int(1), Self.int(2))))
            try check(
                "\(word) dogs.age > age",
                .quantified(quantifier, PropertyPath("dogs"), .compare(Self.age, .greater, .outer(Self.age), [])))
            try check("\(word) dogs.owners.age > 3", .quantified(quantifier, PropertyPath(["dogs", "owners"]), three))
            try check(
                "\(word) dogs.admirers.age > 3", .quantified(quantifier, PropertyPath(["dogs", "admirers"]), three))
        }
        try check("3 < ANY dogs.age".replacing("3 < ANY dogs.age", with: "ANY dogs.age > 3"), Self.anyDog(three))
        try check(
            "ANY tags == nil", .quantified(.any, PropertyPath("tags"), .compare(.element, .equal, .literal(.null), [])))
        let dog = Dog()
        dog._id = 4
        let isDog = Self.anyDog(.compare(.element, .equal, Self.int(4), []))
        try check("ANY dogs == %@", [dog], isDog)
        try check("%@ IN dogs", [dog], isDog)
        try check("dogs CONTAINS %@", [dog], isDog)
        try check("ANY dogs IN %@", [[dog]], Self.anyDog(.isIn(.element, [.int(4)], [])))
        try check("3 IN scores", .quantified(.any, PropertyPath("scores"), .compare(.element, .equal, Self.int(3), [])))
        try check(
            "age IN scores", .quantified(.any, PropertyPath("scores"), .compare(.element, .equal, .outer(Self.age), []))
        )
        try check(
            "NOT 3 IN scores",
            .not(.quantified(.any, PropertyPath("scores"), .compare(.element, .equal, Self.int(3), []))))
    }

    @Test("Counts, aggregates and subqueries")
    func aggregates() throws {
        let dogs = PropertyPath("dogs")
        let count = FilterOperand.count(dogs, .constant(true))
        try check("dogs.@count > 2", .compare(count, .greater, Self.int(2), []))
        try check("2 < dogs.@count", .compare(count, .greater, Self.int(2), []))
        try check("dogs.@size == 0", .compare(count, .equal, Self.int(0), []))
        try check(
            "scores.@count == age", .compare(.count(PropertyPath("scores"), .constant(true)), .equal, Self.age, []))
        try check(
            "best.puppies.@count == 0",
            .compare(.count(PropertyPath(["best", "puppies"]), .constant(true)), .equal, Self.int(0), []))
        for (word, aggregate) in [("min", .min), ("max", .max), ("sum", .sum)] as [(String, FilterOperand.Aggregate)] {
            try check(
                "dogs.@\(word).age > 2", .compare(.aggregate(aggregate, dogs, Self.age), .greater, Self.int(2), []))
            try check(
                "dogs.age.@\(word) > 2", .compare(.aggregate(aggregate, dogs, Self.age), .greater, Self.int(2), []))
            try check(
                "scores.@\(word) > 2",
                .compare(.aggregate(aggregate, PropertyPath("scores"), .element), .greater, Self.int(2), []))
        }
        try check(
            "scores.@avg == 2",
            .compare(.aggregate(.average, PropertyPath("scores"), .element), .equal, .literal(.double(2)), []))
        try check(
            "dogs.@avg.weight BETWEEN {1, 2}",
            .between(.aggregate(.average, dogs, Self.property("weight")), .literal(.double(1)), .literal(.double(2))))
        try check(
            "scores.@max == nil",
            .compare(.aggregate(.max, PropertyPath("scores"), .element), .equal, .literal(.null), []))
        try check(
            "days.@max > %@", [Date(timeIntervalSince1970: 1)],
            .compare(.aggregate(.max, PropertyPath("days"), .element), .greater, .literal(.date(1_000_000)), []))
        let both = Filter.and([
            .compare(Self.age, .greater, Self.int(2), []), .compare(Self.name, .equal, Self.text("x"), []),
        ])
        let counted = Filter.compare(.count(dogs, both), .greater, Self.int(1), [])
        try check("SUBQUERY(dogs, $d, $d.age > 2 && $d.name == 'x').@count > 1", counted)
        try check("subquery( dogs , $x , $x.age > 2 AND $x.name == 'x' ) . @count > 1", counted)
        try check("SUBQUERY(dogs, $d, $d.age > 2 AND name == %@).@count > %d", ["x", 1], counted)
        try check(
            "SUBQUERY(scores, $s, $s > 2).@count == 1",
            .compare(
                .count(PropertyPath("scores"), .compare(.element, .greater, Self.int(2), [])), .equal, Self.int(1), []))
        let inner = Filter.compare(
            .count(PropertyPath("puppies"), .compare(Self.age, .less, .outer(Self.age), [])), .equal, Self.int(0), [])
        try check(
            "SUBQUERY(dogs, $d, SUBQUERY($d.puppies, $p, $p.age < $d.age).@count == 0).@count > 1",
            .compare(.count(dogs, inner), .greater, Self.int(1), []))
        // A list of an object from an outer subquery.
        let siblings = FilterOperand.count(PropertyPath("puppies"), .compare(Self.age, .greater, .outer(Self.age), []))
        try check(
            "SUBQUERY(dogs, $d, SUBQUERY($d.puppies, $p, SUBQUERY($d.puppies, $q, $q.age > $d.age).@count > $p.age)"
                + ".@count > 1).@count > 1",
            .compare(
                .count(
                    dogs,
                    .compare(
                        .count(PropertyPath("puppies"), .compare(.outer(siblings), .greater, Self.age, [])), .greater,
                        Self.int(1), [])), .greater, Self.int(1), []))
        try check(
            "SUBQUERY(dogs, $d, ANY $d.puppies.age > $d.age).@count > 0",
            .compare(
                .count(
                    dogs, .quantified(.any, PropertyPath("puppies"), .compare(Self.age, .greater, .outer(Self.age), []))
                ), .greater, Self.int(0), []))
    }

    @Test("Numbered arguments may repeat and come in any order")
    func numbered() throws {
        try check("age > $1 AND age < $0", [9, 1], .and([Self.age(.greater, 1), Self.age(.less, 9)]))
        try check(
            "name == $0 OR nick == $0", ["x"],
            .or([
                .compare(Self.name, .equal, Self.text("x"), []),
                .compare(Self.property("nick"), .equal, Self.text("x"), []),
            ]))
    }

    @Test("A subscription's predicate is parsed in one step, and one that follows links is refused")
    func predicates() throws {
        let schema = try Schema.owners
        let predicate = try Predicate(
            parsing: "age BETWEEN {1, 5} AND home.city == %@", arguments: ["Ulm"], for: "Owner", in: schema)
        #expect(
            predicate
                == .and([
                    .and([
                        .compare(PropertyPath("age"), .greaterOrEqual, .int(1)),
                        .compare(PropertyPath("age"), .lessOrEqual, .int(5)),
                    ]),
                    .compare(PropertyPath("home.city"), .equal, .string("Ulm")),
                ]))
        try predicate.check(for: "Owner", in: schema, maximumPathLength: 1)
        for format in [
            "ANY dogs.age > 3", "age > limit", "name LIKE 'a*'", "name ==[c] 'a'", "name CONTAINS[d] 'a'",
            "dogs.@count > 0",
            "name.@size > 3",
        ] {
            let error = #expect(throws: ValueError.self) { try Predicate(parsing: format, for: "Owner", in: schema) }
            #expect(error?.message.contains("can only compare properties of one object") == true, "\(format)")
        }
        let linked = try Predicate(parsing: "best.name == 'x'", for: "Owner", in: schema)
        let error = #expect(throws: ValueError.self) {
            try linked.check(for: "Owner", in: schema, maximumPathLength: 1)
        }
        let start = "Owner.best.name follows a link, but a subscription can't look beyond the object itself."
        #expect(error?.message.hasPrefix(start) == true)
    }
}
