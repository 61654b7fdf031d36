import Foundation
import RandomValues
import Testing
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// Malformed text, from a slip to an attack.
@Suite struct RuleDocumentTests {
    private static func problems(_ document: String) -> [String] {
        do throws(RuleError) {
            _ = try RuleBook(parsing: document, file: "rules.yaml")
            return []
        } catch {
            return error.problems
        }
    }

    @Test(
        "text that isn't YAML is refused with its place",
        arguments: [
            ("", "rules.yaml: the document is empty."),
            ("# nothing", "rules.yaml: the document is empty."),
            (
                "A:\n  owner: %%user.id",
                "rules.yaml:2:10: the text isn't YAML: found character that cannot start any token; text that begins "
                    + "with % must be quoted: \"%…\"."
            ),
            (
                "A:\n\t- b",
                "rules.yaml:2:1: the text isn't YAML: found character that cannot start any token; indent with spaces "
                    + "instead of tabs."
            ),
            ("A: {b: 1", "rules.yaml:2:1: the text isn't YAML: did not find expected ',' or '}'."),
            (
                "{\"a\": 1 \"b\": 2}", "rules.yaml:1:12: the text isn't YAML: did not find expected ',' or '}'."
            ),
            ("A: 1\nB: 2\nA: 3", "rules.yaml:1: a mapping has duplicate keys: 'A'."),
            ("A: *b", "rules.yaml:1:4: the text isn't YAML: found undefined alias."),
            (
                "A: !!binary aGk=",
                "rules.yaml:1: tags such as 'tag:yaml.org,2002:binary' aren't supported; put text in quotes."
            ),
            ("A: !!int 5", "rules.yaml:1: tags such as 'tag:yaml.org,2002:int' aren't supported; put text in quotes."),
            ("[a]: b", "rules.yaml:1: a key must be a plain name, not a list or a mapping."),
            ("A: 99999999999999999999", "rules.yaml:1: 99999999999999999999 doesn't fit in 64 bits."),
            ("A: 1e999", "rules.yaml:1: 1e999 is too large for a number."),
            ("<<: 5", "rules.yaml:1: '<<' must be followed by a mapping or a list of mappings."),
            ("A: 1\n---\nB: 2", "rules.yaml:2:1: the text isn't YAML: but found another document."),
        ])
    func syntax(document: String, problem: String) {
        #expect(Self.problems(document) == [problem])
    }

    @Test("bytes that aren't UTF-8 are refused")
    func encoding() {
        let error = #expect(throws: RuleError.self) {
            try RuleBook(parsing: [0x41, 0x3a, 0x20, 0xff], file: "rules.yaml")
        }
        #expect(error?.problems == ["rules.yaml: the text isn't UTF-8."])
    }

    @Test("JSON is read with tabs, escapes and numbers of every form")
    func json() throws {
        let document = """
            {
            \t"A": [{"name": "\\u0061\\/\\n", "applyWhen": {},
            \t\t"read": {"$or": [{"n": 1}, {"n": -1.5e2}, {"n": 0.25}, {"t": "\\"\\\\"}, {"t": null}]}}]
            }
            """
        let schema = try Schema([
            ClassSchema(
                name: "A",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "n", type: .double),
                    Column(name: "t", type: .string, isOptional: true),
                ])
        ])
        let rules = try Rules(schema: schema, book: RuleBook(parsing: document, file: "rules.json"))
        let (n, t) = (PropertyPath("n"), PropertyPath("t"))
        #expect(
            rules.readable(Subject(user: ObjectId()))(0)
                == .or([
                    .compare(n, .equal, .double(1)), .compare(n, .equal, .double(-150)),
                    .compare(n, .equal, .double(0.25)), .compare(t, .equal, .string("\"\\")),
                    .compare(t, .equal, .null),
                ]))
    }

    @Test("words of YAML 1.1 are strings: only true, false and null are special")
    func words() throws {
        let schema = try Schema([
            ClassSchema(
                name: "A",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "country", type: .string),
                ])
        ])
        for word in ["NO", "yes", "on", "0x1F", "1_000", "12:30", "2024-01-01", ".inf", "= "] {
            let book = try RuleBook(parsing: "A: [{name: a, applyWhen: {}, read: {country: \(word)}}]", file: "a.yaml")
            let rules = try Rules(schema: schema, book: book)
            let text = word.trimmingCharacters(in: .whitespaces)
            #expect(
                rules.readable(Subject(user: ObjectId()))(0)
                    == .compare(PropertyPath("country"), .equal, .string(text)))
        }
    }

    @Test("anchors, aliases and merge keys work; a mapping's own keys take precedence")
    func anchors() throws {
        let schema = try Schema([
            ClassSchema(
                name: "A",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "s", type: .string),
                ])
        ])
        let book = try RuleBook(
            parsing: """
                x-base: &base {name: base, applyWhen: {}, read: {s: &word x}}
                x-more: &more {read: false, write: {s: *word}}
                A:
                  - <<: [*base, *more]
                    name: own
                """, file: "a.yaml")
        let rules = try Rules(schema: schema, book: book)
        let explained = rules.authorize(.anonymous, .read, .objects(classIndex: 0))
        #expect(!explained.isAllowed)
        let user = Subject(user: ObjectId())
        let x = Predicate.compare(PropertyPath("s"), .equal, .string("x"))
        #expect(rules.readable(user)(0).matches(Row([.objectId(ObjectId()), .string("x")]), of: schema[0]))
        #expect(try rules.authorize(user, .update, .objects(classIndex: 0)).get() == x)
    }

    @Test("a small document that expands to a huge one is refused at once")
    func bombs() {
        func levels(_ count: Int, _ level: (Int) -> String) -> String {
            (1...count).map(level).joined(separator: "\n")
        }
        let laughs =
            "x-0: &a0 [x, x, x, x, x, x, x, x, x]\n"
            + levels(12) { n in "x-\(n): &a\(n) [\((0..<9).map { _ in "*a\(n - 1)" }.joined(separator: ", "))]" }
        #expect(Self.problems(laughs).first?.contains("more than 100000 values") == true)
        let merges =
            "x-0: &a0 {k: 1}\n"
            + levels(40) { n in "x-\(n): &a\(n) {l: *a\(n - 1), m: *a\(n - 1)}" }
        #expect(Self.problems(merges).first?.contains("more than 100000 values") == true)
        // The aliases are used as keys, which the parser would hash.
        for key in ["? *a12\n: x", "*a12 : x", "? [*a12]\n: x", "[*a12, *a12]: x", "{*a12 : x}", "{{a: *a12} : x}"] {
            let problem = Self.problems(laughs + "\n" + key).first
            #expect(problem?.contains("a key must be a plain name") == true, "\(key): \(problem ?? "nothing")")
        }
    }

    @Test("a byte order mark at the beginning is skipped")
    func byteOrderMark() throws {
        _ = try RuleBook(parsing: "\u{FEFF}version: 1\n", file: "rules.yaml")
        _ = try RuleBook(parsing: Data([0xEF, 0xBB, 0xBF]) + Data("version: 1\n".utf8), file: "rules.yaml")
    }

    @Test("too many anchors are refused before the parser compares them")
    func manyAnchors() {
        func anchors(_ count: Int) -> String { (0..<count).map { "x-\($0): &a\($0) 1" }.joined(separator: "\n") }
        #expect(Self.problems(anchors(30_000)).first?.contains("more than 1000 anchors") == true)
        #expect(Self.problems(anchors(1_000)).first?.contains("anchors") != true)
        #expect(Self.problems("x-0: \"R & B & &\"\n" + anchors(1_000)).first?.contains("anchors") != true)
    }

    @Test("deep nesting is refused")
    func depth() {
        for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
            for depth in [65, 900, 5_000, 200_000] {
                let text =
                    String(repeating: open, count: depth) + "x" + String(repeating: close, count: depth)
                #expect(!Self.problems(text).isEmpty, "\(open) \(depth)")
            }
        }
    }

    @Test("truncated and corrupted documents are read or refused, whatever they contain")
    func corruption() throws {
        var random = RandomValues(.printed(for: "RuleDocumentTests.corruption"))
        let schema = try RuleErrorTests.schema.get()
        let document = """
            # Rules
            version: 1
            grants: [{class: Membership, user: user, role: role}]
            x-owner: &owner {owner: "%%user.id"}
            Listing:
              - name: manager
                applyWhen: {"%%user.custom_data.isManager": true}
                read: {team: {$in: "%%user.custom_data.teams"}}
                write: {$or: [*owner, {price: {$gt: 10, $lte: 20}}]}
                fields: {price: {read: true, write: false}}
                operations: {trash: *owner}
              - {name: owner, applyWhen: {}, read: *owner, write: {<<: *owner, team: 'x'}}
            defaultRoles: [{"name": "none", "applyWhen": {}, "read": false, "write": false}]
            """
        _ = try Rules(schema: schema, book: RuleBook(parsing: document, file: "a.yaml"))
        let bytes = Array(document.utf8)
        func read(_ bytes: [UInt8]) {
            do throws(RuleError) {
                _ = try Rules(schema: schema, book: RuleBook(parsing: bytes, file: "a.yaml"))
            } catch {
                #expect(!error.problems.isEmpty)
                #expect(error.problems.allSatisfy { $0.hasPrefix("a.yaml:") && $0.utf8.count < 600 }, "\(error)")
            }
        }
        for end in bytes.indices { read(Array(bytes[..<end])) }
        let marks = Array("{}[],:&*?|>-'\"%@!#\n\t \u{0}<".utf8)
        for _ in 0..<4_000 {
            var copy = bytes
            for _ in 0..<random.int(1...4) {
                let place = random.int(0...copy.count - 1)
                switch random.int(0...3) {
                case 0: copy[place] = random.pick(marks)
                case 1: copy.insert(random.pick(marks), at: place)
                case 2: copy.remove(at: place)
                default: copy[place] = UInt8(random.int(0...255))
                }
            }
            read(copy)
        }
    }
}
