import Foundation
import RandomValues
import Testing
import TomboloModel

@Suite("Errors in string predicates")
struct FilterFormatErrorTests {
    @Test(
        "The message says what was found, what was expected, and where",
        arguments: [
            ("", [], 0, "The predicate is empty."),
            ("   ", [], 3, "The predicate is empty."),
            ("age >", [], 5, "Expected a property or a value, not the end."),
            ("age 5", [], 4, "Expected an operator after the left side"),
            ("age", [], 3, "Expected an operator after the left side"),
            ("age == 5 age", [], 9, "Expected AND, OR or the end, not 'age'."),
            ("age == 5 AND", [], 12, "Expected a property or a value, not the end."),
            ("(age == 5", [], 9, "Expected ')' here, not the end."),
            ("age == 5)", [], 8, "Expected AND, OR or the end, not ')'"),
            ("agee == 5", [], 0, "Owner has no property 'agee'; did you mean 'age'?"),
            ("best.nam == 'x'", [], 0, "Dog has no property 'nam'; did you mean 'name'?"),
            ("name.x == 'x'", [], 0, "Owner.name is not a link, so 'name.x' leads nowhere."),
            ("home.stret == 'x'", [], 0, "Owner.home is an embedded Home without such a property"),
            ("age == 'x'", [], 7, "Owner.age is of type int and cannot be compared with \"x\" of type string."),
            ("age == %@", ["x"], 7, "Owner.age is of type int and cannot be compared with \"x\" of type string."),
            ("name == 5", [], 8, "Owner.name is of type string and cannot be compared with 5 of type int."),
            ("name == 1.5", [], 8, "Owner.name is of type string and cannot be compared with 1.5 of type double."),
            ("age == true", [], 7, "Owner.age is of type int and cannot be compared with true of type bool."),
            ("isActive == 2", [], 12, "Owner.isActive is of type bool and cannot be compared with 2 of type int."),
            (
                "born == '2020'", [], 8,
                "Owner.born is of type date and cannot be compared with \"2020\" of type string."
            ),
            ("name == age", [], 5, "Owner.name is of type string and cannot be compared with Owner.age of type int."),
            (
                "best == 5", [], 8,
                "Owner.best is a link to Dog and cannot be compared with 5 of type int: pass the object"
            ),
            ("best > best", [], 5, "Owner.best is a link: links have no order and can only be compared by == and !=."),
            (
                "home == home", [], 5,
                "Owner.home is an embedded object: compare its properties, or compare it with nil."
            ),
            (
                "secret == 'x'", [], 0,
                "Owner.secret is encrypted and can't be used in queries, sorts or distinct."
            ),
            ("ANY home.rooms > 1", [], 4, "Owner.home.rooms is a single value"),
            ("home.rooms == 1", [], 14, "Owner.home.rooms is a list inside an embedded object"),
            ("age CONTAINS 'x'", [], 4, "Owner.age is of type int; CONTAINS needs a string."),
            ("age ==[c] 5", [], 4, "Owner.age is of type int; [c] needs a string."),
            ("name ==[x] 'a'", [], 8, "'x' is not an option: c ignores case, d ignores accents."),
            ("name MATCHES 'a'", [], 5, "MATCHES is not supported: use LIKE"),
            ("dogs.age > 3", [], 0, "'dogs' has many values: put ANY, ALL or NONE before it"),
            ("dogs == nil", [], 0, "'dogs' has many values"),
            ("ANY age > 3", [], 4, "Owner.age is a single value, but ANY applies only to lists."),
            ("ANY dogs.age > dogs.age", [], 13, "Only one side of a comparison can be a list."),
            ("dogs.@cont > 1", [], 5, "There is no function @cont; did you mean @count?"),
            ("dogs.@median.age > 1", [], 5, "There is no function @median. Available: @count"),
            ("dogs.@max.name > 'x'", [], 0, "Dog.name is of type string, which doesn't support @max"),
            ("dogs.@max > 1", [], 0, "Dog is of type link<Dog>, which doesn't support @max"),
            ("age.@max > 1", [], 4, "'age' is not a list, and @max applies only to lists."),
            ("age.@count > 1", [], 0, "Owner.age is of type int and has no size"),
            ("dogs.@count.age > 1", [], 5, "Nothing can follow @count."),
            ("@count > 1", [], 0, "Put @count after the name of a list"),
            ("dogs[0].age > 1", [], 4, "List elements cannot be selected by position"),
            ("age BETWEEN {1}", [], 4, "BETWEEN takes two values, not 1"),
            ("age BETWEEN 5", [], 4, "5 of type int is not a list"),
            ("age IN 5", [], 4, "5 of type int is not a list"),
            ("age IN limit", [], 4, "Owner.limit is not a list"),
            ("age IN {1 2}", [], 10, "Expected '}' after the values of a list, not the number 2."),
            ("age IN {age}", [], 8, "Expected a value, not 'age'."),
            ("age == {1}", [], 7, "Use IN or BETWEEN to compare with a list of values."),
            ("5 == 5", [], 2, "At least one side of a comparison must be a property."),
            ("5 == %@", [5], 2, "At least one side of a comparison must be a property."),
            ("age == %@", [], 7, "There is no value for an argument: the number of arguments passed is 0."),
            ("age == $1", [5], 7, "There is no value for $1: the number of arguments passed is 1."),
            ("age == 5", [5], 8, "1 argument was given, but the predicate takes 0."),
            (
                "age == %@ AND age == $0", [5], 21,
                "Use either numbered arguments such as $0, or arguments in order such as %@, but not both."
            ),
            ("age == %s", [5], 7, "'%s' is not an argument: use %@"),
            ("age == %", [5], 7, "'%' must begin an argument, as in %@."),
            ("%K == 5", [5], 0, "The argument for %K must be a string with the name of a property."),
            ("%K == 5", ["a b"], 0, "The argument for %K, 'a b', is not a property"),
            (
                "age == %@", [FilterFormatErrorTests.self], 7,
                "Argument 1 is of type FilterFormatErrorTests.Type, which can't"
            ),
            ("age == %@", [["a": 1]], 7, "Argument 1 is of type Dictionary<String, Int>"),
            ("$d.age > 1", [], 0, "There is no variable $d here: only a SUBQUERY declares variables."),
            ("SUBQUERY(dogs, $d, $x.age > 1).@count > 0", [], 19, "There is no variable $x here; available: $d."),
            (
                "SUBQUERY(dogs, $d, SUBQUERY($d.puppies, $p, SUBQUERY($d.puppies, $q, $q.age > $p.age).@count > 0)"
                    + ".@count > 0).@count > 0", [], 78, "There is no variable $p here; available: $d, $q."
            ),
            ("SUBQUERY(dogs, $d, $d.age > 1) > 0", [], 31, "A SUBQUERY must be followed by .@count"),
            ("SUBQUERY(dogs, d, d.age > 1).@count > 0", [], 15, "Expected a variable such as $item"),
            ("SUBQUERY(best, $d, $d.age > 1).@count > 0", [], 0, "Owner.best is not a list"),
            ("ANY tags.length > 3", [], 4, "The elements of Owner.tags are not objects"),
            (
                "IN == 5", [], 0,
                "Expected a property or a value, not the word IN. Write #IN for a property of that name."
            ),
            ("age + 1 == 5", [], 4, "'+' can only precede a number: predicates have no arithmetic."),
            ("age == 5 & name == 'x'", [], 9, "'&' isn't valid here."),
            ("age == 12abc", [], 9, "'a' cannot follow a number directly."),
            ("name == 'abc", [], 8, "The string that begins here has no closing '."),
            ("length(name) > 3", [], 0, "'length' is not a function. Available: uuid('…'), oid('…')"),
            ("token == uuid('x')", [], 14, "'x' is not a UUID."),
            ("_id == oid(12)", [], 11, "'12' is not an ObjectId, which has 24 hexadecimal digits."),
            ("age > 5 SORT(age ASC)", [], 8, "Predicates do not sort or limit: use sorted(byKeyPath:)"),
            ("age == 0xZZ", [], 9, "'Z' cannot follow a number directly."),
            ("age == 0xFFFFFFFFFFFFFFFFFF", [], 7, "0xFFFFFFFFFFFFFFFFFF is not a 64-bit hexadecimal number."),
            ("name == #", [], 8, "'#' must be followed by a property name."),
            ("name == $", [], 8, "'$' must begin an argument, as in $0"),
        ] as [(String, [(any Sendable)?], Int, String)])
    func message(format: String, arguments: [(any Sendable)?], position: Int, message: String) throws {
        let schema = try Schema.owners
        let error = #expect(throws: FilterFormatError.self, "\(format)") {
            try Filter(parsing: format, arguments: arguments.map { $0 }, for: "Owner", in: schema)
        }
        #expect(error?.message.hasPrefix(message) == true, "\(format): \(error?.message ?? "")")
        #expect(error?.position == position, "\(format)")
    }

    @Test("The excerpt marks the position")
    func excerpt() throws {
        let error = #expect(throws: FilterFormatError.self) {
            try Filter(parsing: "age == 5 AND agee > 3", for: "Owner", in: .owners)
        }
        #expect(
            error?.description == """
                Owner has no property 'agee'; did you mean 'age'?
                    age == 5 AND agee > 3
                                 ^
                """)
        let long =
            String(repeating: "age == 5 AND ", count: 50) + "agee > 3" + String(repeating: " AND age == 5", count: 50)
        let far = #expect(throws: FilterFormatError.self) { try Filter(parsing: long, for: "Owner", in: .owners) }
        let lines = far?.excerpt.split(separator: "\n") ?? []
        #expect(lines.count == 2 && lines[0].count < 80)
        #expect(lines.first.map { String($0.dropFirst(lines[1].count - 1).prefix(4)) } == "agee")
    }

    @Test("Depth, length and the number of parts are bounded")
    func bounds() throws {
        let schema = try Schema.owners
        func parse(_ text: String) throws { _ = try Filter(parsing: text, for: "Owner", in: schema) }
        try parse(String(repeating: "(", count: 64) + "age == 1" + String(repeating: ")", count: 64))
        for deep in [
            String(repeating: "(", count: 100_000), String(repeating: "NOT ", count: 50_000),
            String(repeating: "!", count: 200_000) + "age == 1",
            String(repeating: "(", count: 65) + "age == 1" + String(repeating: ")", count: 65),
            String(repeating: "SUBQUERY(dogs, $d, ", count: 5_000),
            String(repeating: "(", count: 90_000) + "age == 1"
                + String(repeating: ")", count: 90_000) + " == 1",
        ] {
            #expect(throws: FilterFormatError.self) { try parse(deep) }
        }
        try parse((0..<4_096).map { "age == \($0)" }.joined(separator: " OR "))
        #expect(throws: FilterFormatError.self) {
            try parse((0..<4_097).map { "age == \($0)" }.joined(separator: " OR "))
        }
        #expect(throws: FilterFormatError.self) {
            try parse("age IN {" + (0..<5_000).map(String.init).joined(separator: ",") + "}")
        }
        #expect(throws: FilterFormatError.self) {
            try parse("name == '" + String(repeating: "a", count: 1 << 18) + "'")
        }
        #expect(throws: FilterFormatError.self) { try parse(String(repeating: "best.", count: 10_000) + "age == 1") }
        // Arguments aren't limited.
        _ = try Filter(parsing: "age IN %@", arguments: [Array(0..<100_000)], for: "Owner", in: schema)
    }

    @Test("Random text is refused or read as a condition that fits the class", arguments: 1...20 as ClosedRange<UInt64>)
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let schema = try Schema.owners
        let pieces = [
            "age", "name", "dogs", "best", "home", "scores", "tags", "visits", ".", ".", "==", "!=", "<", ">=", "(",
            ")", "{",
            "}", ",", "'x'", "\"", "'", "\\", "5", "-1", "1.5", "1e9", "nil", "true", "AND", "OR", "NOT", "!", "ANY",
            "ALL",
            "NONE", "IN", "BETWEEN", "CONTAINS", "[c]", "[", "]", "@count", "@max", "SUBQUERY(dogs, $d, ", "$d",
            "$d.age",
            ".@count", "%@", "%K", "$0", "#", "uuid(", "oid(", "SELF", "TRUEPREDICATE", "\u{0}", "é", "👩‍🚀", "\u{301}",
            " ",
            "%", "@", "&&", "||", "=", "0x", "e", "_", "\n", "LIKE", "friend", "puppies", "street",
        ]
        var readCount = 0
        for _ in 0..<400 {
            let count = Int.random(in: 1...14, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }
                .joined(separator: Bool.random(using: &generator) ? " " : "")
            let arguments: [Any?] = [[5, "name", nil, [1, 2]].randomElement(using: &generator) ?? nil]
            if let filter = try? Filter(parsing: text, arguments: arguments, for: "Owner", in: schema) {
                readCount += 1
                #expect(throws: Never.self, "seed \(seed): \(text)") { try filter.check(for: "Owner", in: schema) }
                _ = filter.description
            }
        }
        _ = readCount
    }

    @Test("Changing one character of a valid predicate never traps", arguments: 1...10 as ClosedRange<UInt64>)
    func mutated(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let schema = try Schema.owners
        let texts = [
            "age >= 5 AND (name BEGINSWITH[cd] 'x' OR ANY dogs.age > 3) AND NOT home.city IN {'a', nil}",
            "SUBQUERY(dogs, $d, $d.age > 2 && $d.name == 'x').@count > 1 || scores.@avg <= 1.5e3",
            "token == uuid('01020304-0506-0708-090a-0b0c0d0e0f10') AND dogs.@max.age BETWEEN {1, 0x1F}",
        ]
        let letters: [Unicode.Scalar] = [
            "(", ")", "'", "\\", "$", "%", "@", "#", ".", " ", "0", "a", "[", "{", "\u{0}", "é", "-",
        ]
        for text in texts {
            for _ in 0..<300 {
                var scalars = Array(text.unicodeScalars)
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let position = Int.random(in: 0..<scalars.count, using: &generator)
                    switch Int.random(in: 0...2, using: &generator) {
                    case 0: scalars.remove(at: position)
                    case 1: scalars.insert(letters.randomElement(using: &generator) ?? " ", at: position)
                    default: scalars[position] = letters.randomElement(using: &generator) ?? " "
                    }
                }
                var view = String.UnicodeScalarView()
                view.append(contentsOf: scalars)
                _ = try? Filter(parsing: String(view), for: "Owner", in: schema)
            }
        }
    }
}
