import Codemod
import Testing

@Suite struct HostileTests {
    /// splitmix64
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    private static let pieces = [
        "class ", "A", "B", ": ", "Object", " {", "}", "(", ")", "[", "]", "<", ">", "\n", " ", "@objc ", "dynamic ",
        "var ", "let ", "x", " = ", "List<A>()", "RealmOptional<Int>()", ".value", "\"", "\"\"\"", "\\(", "#\"", "\"#",
        "/*", "*/", "//", "“", "”", "’", ",", ";", "enum ", "Int", "?", "!", "NSDate()", " as NSDate", "@Persisted ",
        "func f", "init", "override ", "observe(\\.x)", "#if DEBUG\n", "#endif\n", "é", "🐶", "\r\n", "\t", "`",
        "extension ", "typealias ", "/", "#/", "/#", "ignoredProperties", "return ", "super.init()", "self.",
    ]

    @Test func `Rewriting random pieces of Swift a second time changes nothing`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = Generator(state: seed)
        for round in 0..<1_000 {
            let text = (0..<Int.random(in: 1...60, using: &generator))
                .map { _ in Self.pieces.randomElement(using: &generator) ?? "" }.joined()
            for fixesQuotes in [false, true] {
                let once = Rewriting.run(text, fixesQuotes: fixesQuotes)
                let twice = Rewriting.run(once.text, fixesQuotes: fixesQuotes)
                #expect(twice.text == once.text, "seed \(seed), round \(round): \(text)")
                #expect(once.isChanged == (once.text != text), "seed \(seed), round \(round): \(text)")
            }
        }
    }

    @Test func `Rewriting damaged models a second time changes nothing, and their diff applies`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = Generator(state: seed)
        let originals = try Fixture.all.map { try $0.text }
        for round in 0..<100 {
            var text = Array((originals.randomElement(using: &generator) ?? "").unicodeScalars)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: text.remove(at: place)
                case 1: text.removeSubrange(place..<min(text.count, place + 12))
                default:
                    text.insert(
                        contentsOf: (Self.pieces.randomElement(using: &generator) ?? "").unicodeScalars, at: place)
                }
            }
            var damaged = ""
            damaged.unicodeScalars.append(contentsOf: text)
            let once = Rewriting.run(damaged, fixesQuotes: true)
            let twice = Rewriting.run(once.text, fixesQuotes: true)
            #expect(twice.text == once.text, "seed \(seed), round \(round):\n\(damaged)")
            #expect(try Patch.apply(once.diff, to: damaged) == once.text, "seed \(seed), round \(round):\n\(damaged)")
        }
    }

    @Test(arguments: [
        String(repeating: "class A{", count: 5_000),
        String(repeating: "class A{", count: 5_000) + String(repeating: "}", count: 5_000),
        String(repeating: "\"\\(", count: 50_000), String(repeating: "/*", count: 50_000),
        String(repeating: "a<", count: 4_000), String(repeating: "(/‘“", count: 2_000),
        String(repeating: "@objc dynamic ", count: 5_000), String(repeating: "class A where ", count: 1_000),
        "class A: Object {" + String(repeating: "var x=", count: 5_000) + "}",
        String(repeating: "class A: Object { @objc dynamic var x = 0 }\n", count: 2_000),
    ])
    func `Deep, long and unterminated input is processed in finite time`(_ text: String) {
        let once = Rewriting.run(text)
        #expect(Rewriting.run(once.text).text == once.text)
    }

    @Test func `Files beyond the limit are left unchanged`() {
        let text = "class A: Object { @objc dynamic var a = 0 }" + String(repeating: " ", count: Codemod.maximumBytes)
        let file = Rewriting.run(text)
        #expect(!file.isChanged)
        #expect(file.findings.count == 1)
    }

    @Test func `The order of files does not affect the result`() throws {
        let files = try Fixture.all.map { SourceFile(path: $0.name, text: try $0.text) }
        let forwards = Codemod(fixesQuotes: true).rewrite(files)
        let backwards = Codemod(fixesQuotes: true).rewrite(files.reversed())
        #expect(forwards.map(\.text) == backwards.reversed().map(\.text))
        #expect(forwards.map(\.findings) == backwards.reversed().map(\.findings))
    }
}
