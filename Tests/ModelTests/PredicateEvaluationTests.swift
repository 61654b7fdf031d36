import Testing
import TomboloModel

@Suite("Predicates are evaluated in two-valued logic")
struct PredicateEvaluationTests {
    static let x = PropertyPath("x")

    static func evaluate(_ predicate: Predicate, _ value: Value) -> Bool { predicate.evaluate { _ in value } }

    @Test(
        "Comparisons",
        arguments: [
            // comparison: 1 against 2, 2 against 2, 3 against 2, nil against 2
            (.equal, [false, true, false, false]), (.notEqual, [true, false, true, true]),
            (.less, [true, false, false, false]), (.lessOrEqual, [true, true, false, false]),
            (.greater, [false, false, true, false]), (.greaterOrEqual, [false, true, true, false]),
        ] as [(Predicate.Comparison, [Bool])])
    func comparisons(comparison: Predicate.Comparison, expected: [Bool]) {
        for (value, result) in zip([.int(1), .int(2), .int(3), .null] as [Value], expected) {
            let predicate = Predicate.compare(Self.x, comparison, .int(2))
            #expect(Self.evaluate(predicate, value) == result, "\(value) \(comparison)")
            #expect(Self.evaluate(.not(predicate), value) == !result, "not \(value) \(comparison)")
        }
    }

    @Test(
        "Comparisons with nil",
        arguments: [
            (.equal, true, false), (.notEqual, false, true), (.less, false, false), (.lessOrEqual, false, false),
            (.greater, false, false), (.greaterOrEqual, false, false),
        ] as [(Predicate.Comparison, Bool, Bool)])
    func withNil(comparison: Predicate.Comparison, ofNil: Bool, ofValue: Bool) {
        let predicate = Predicate.compare(Self.x, comparison, .null)
        #expect(Self.evaluate(predicate, .null) == ofNil)
        #expect(Self.evaluate(predicate, .int(1)) == ofValue)
    }

    /// Trying every position would take 2¹² times as many steps: hours.
    @Test("Searching for a long text takes time linear in the text being searched", arguments: [false, true])
    func longNeedle(ignoringCase: Bool) {
        let half = 1 << 17
        let text = Value.string(String(repeating: "a", count: 4 * half))
        let needle = String(repeating: "a", count: half)
        for (needle, result) in [(needle + "b", false), ("b" + needle, false), (needle, true)] {
            #expect(Self.evaluate(.text(Self.x, .contains, needle, ignoringCase: ignoringCase), text) == result)
        }
    }

    @Test("contains finds the same as checking every position", arguments: 1...200)
    func containsOracle(seed: Int) {
        // Few different letters, so that prefixes repeat.
        var state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15
        func text(_ length: Int) -> [UInt8] {
            (0..<length).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Array("aAbB".utf8)[Int(state >> 33) % 4]
            }
        }
        let subject = text(40)
        for length in 0...6 {
            let needle = text(length)
            for ignoringCase in [false, true] {
                let fold = { (bytes: [UInt8]) in ignoringCase ? bytes.map { $0 | 0x20 } : bytes }
                let expected = (0...(40 - length)).contains {
                    fold(Array(subject[$0..<($0 + length)])) == fold(needle)
                }
                let predicate = Predicate.text(
                    Self.x, .contains, String(decoding: needle, as: UTF8.self), ignoringCase: ignoringCase)
                #expect(Self.evaluate(predicate, .string(String(decoding: subject, as: UTF8.self))) == expected)
            }
        }
    }

    @Test("Conditions are equal if their texts have the same bytes")
    func equality() {
        func contains(_ text: String) -> Predicate { .text(Self.x, .contains, text, ignoringCase: false) }
        #expect(contains("\u{e9}") != contains("e\u{301}"))
        #expect(Predicate.not(.and([contains("\u{e9}")])) != .not(.and([contains("e\u{301}")])))
        #expect(Set([contains("\u{e9}"), contains("e\u{301}"), contains("\u{e9}")]).count == 2)
        #expect(contains("a") != .text(Self.x, .contains, "a", ignoringCase: true))
        #expect(Predicate.and([contains("a")]) != .or([contains("a")]))
    }

    @Test("Membership counts nil as a value")
    func membership() {
        #expect(Self.evaluate(.isIn(Self.x, [.int(1), .null]), .null))
        #expect(!Self.evaluate(.isIn(Self.x, [.int(1)]), .null))
        #expect(Self.evaluate(.isIn(Self.x, [.int(1)]), .int(1)))
        #expect(!Self.evaluate(.isIn(Self.x, [.null]), .int(1)))
        #expect(!Self.evaluate(.isIn(Self.x, []), .null))
    }

    @Test(
        "Text tests compare bytes and fold only A-Z",
        arguments: [
            ("Sandbank", .contains, "db", false, true), ("Sandbank", .contains, "DB", false, false),
            ("Sandbank", .contains, "DB", true, true), ("Sandbank", .beginsWith, "San", false, true),
            ("Sandbank", .beginsWith, "sAN", true, true), ("Sandbank", .endsWith, "bank", false, true),
            ("Sandbank", .endsWith, "San", false, false), ("Sandbank", .contains, "", false, true),
            ("", .beginsWith, "", false, true), ("", .endsWith, "x", false, false),
            ("ÄRGER", .contains, "ärger", true, false),
            ("ÄRGER", .contains, "Ärg", true, true), ("cafe\u{301}", .endsWith, "\u{e9}", false, false),
            ("cafe\u{301}", .contains, "cafe", false, true), ("100%_\\", .contains, "%_\\", false, true),
            ("100x", .contains, "%", false, false), ("aXb", .contains, "a_b", false, false),
            ("short", .contains, "shorter", false, false), ("👩‍🚀", .beginsWith, "👩", false, true),
        ] as [(String, Predicate.TextTest, String, Bool, Bool)])
    func text(subject: String, test: Predicate.TextTest, text: String, ignoringCase: Bool, expected: Bool) {
        #expect(Self.evaluate(.text(Self.x, test, text, ignoringCase: ignoringCase), .string(subject)) == expected)
    }

    @Test("Text tests on nil are false, so their negations are true")
    func textOfNil() {
        for test in Predicate.TextTest.allCases {
            let predicate = Predicate.text(Self.x, test, "", ignoringCase: false)
            #expect(!Self.evaluate(predicate, .null))
            #expect(Self.evaluate(.not(predicate), .null))
        }
    }

    @Test("An empty conjunction is true, an empty disjunction false")
    func empty() {
        #expect(Self.evaluate(.and([]), .null))
        #expect(!Self.evaluate(.or([]), .null))
        #expect(Self.evaluate(.or([.constant(false), .constant(true)]), .null))
        #expect(!Self.evaluate(.and([.constant(false), .constant(true)]), .null))
    }

    @Test("A row is matched by its class's columns; an unknown name is nil")
    func rows() {
        let item = ClassSchema(
            name: "A",
            columns: [Column(name: "x", type: .int(bits: 64)), Column(name: "y", type: .string, isOptional: true)])
        let row = Row([.int(4), .null])
        #expect(Predicate.compare(PropertyPath("x"), .equal, .int(4)).matches(row, of: item))
        #expect(Predicate.compare(PropertyPath("y"), .equal, .null).matches(row, of: item))
        #expect(Predicate.compare(PropertyPath("z"), .equal, .null).matches(row, of: item))
    }
}
