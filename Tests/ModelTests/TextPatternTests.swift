import RandomValues
import Testing
import TomboloModel

@Suite("LIKE patterns")
struct TextPatternTests {
    @Test(
        "A star matches any text, a question mark one code point",
        arguments: [
            ("", "", true), ("", "a", false), ("*", "", true), ("*", "abc", true), ("**", "", true), ("?", "", false),
            ("?", "é", true), ("?", "👍", true), ("?", "e\u{301}", false), ("??", "e\u{301}", true), ("a", "a", true),
            ("a", "ab", false), ("a*", "abc", true), ("*c", "abc", true), ("*b*", "abc", true), ("a*c", "ac", true),
            ("ab*ba", "aba", false), ("ab*ba", "abba", true), ("a?c", "abc", true), ("a?c", "ac", false),
            ("*?", "", false), ("*?", "é", true), ("?*?", "é", false), ("?*?", "éé", true), ("*b?d*", "abxbcd!", true),
            ("*??*", "x", false), ("*a?a*", "aaba", true), ("h*l?", "hello", true), ("*é*", "caféx", true),
            ("A*", "abc", false), ("\\*", "\\x", true), ("\\*", "*", false), ("a%_", "abc", false),
        ])
    func examples(pattern: String, text: String, matches: Bool) {
        #expect(TextPattern(pattern).matches(text) == matches)
    }

    @Test("Patterns fold case and diacritics on both sides")
    func folding() {
        #expect(TextPattern("É*", folding: .letterCase).matches("école"))
        #expect(!TextPattern("E*", folding: .letterCase).matches("école"))
        #expect(TextPattern("E*", folding: [.letterCase, .diacritics]).matches("école"))
        #expect(TextPattern("caf?", folding: .diacritics).matches("cafe\u{301}"))
        #expect(!TextPattern("Caf?", folding: .diacritics).matches("café"))
    }

    @Test("Random patterns match exactly what an exhaustive matcher does")
    func random() {
        var random = RandomValues(.printed(for: "patterns"))
        let letters = ["a", "a", "b", "é"]
        for _ in 0..<20_000 {
            let pattern = (0..<random.int(0...9)).map { _ in random.pick(letters + ["*", "?"]) }.joined()
            let text = (0..<random.int(0...14)).map { _ in random.pick(letters) }.joined()
            #expect(TextPattern(pattern).matches(text) == Self.matches(pattern, text), "'\(text)' LIKE '\(pattern)'")
        }
    }

    @Test("Parts longer than 64 code points with question marks are found")
    func longParts() {
        for count in [63, 64, 65, 127, 128, 129, 200] {
            let part = String(repeating: "ab", count: count / 2) + (count % 2 == 1 ? "?" : "") + "?z"
            let text = String(repeating: "ab", count: 150) + "é" + "éz" + "tail"
            let last = String(repeating: "ab", count: count / 2)
            #expect(
                TextPattern("*\(last)\(count % 2 == 1 ? "?" : "")?z*").matches(text) == Self.matches("*\(part)*", text))
            #expect(TextPattern("*\(last)??z*").matches(text))
            #expect(!TextPattern("*\(last)b??z*").matches(text))
        }
    }

    /// With backtracking, any of these would take longer than the age of the universe.
    @Test("Patterns built to be slow are fast")
    func hostile() {
        let text = String(repeating: "a", count: 100_000)
        #expect(!TextPattern(String(repeating: "*a", count: 500) + "*b").matches(text))
        #expect(!TextPattern(String(repeating: "a*", count: 500) + "b*a").matches(text))
        #expect(!TextPattern("*" + String(repeating: "a", count: 50_000) + "b*").matches(text))
        #expect(!TextPattern("*" + String(repeating: "a?", count: 200) + "b*").matches(text))
        #expect(TextPattern(String(repeating: "*?", count: 1_000) + "*").matches(text))
    }

    /// Matches every prefix of the pattern with every prefix of the text.
    private static func matches(_ pattern: String, _ text: String) -> Bool {
        let text = Array(text.unicodeScalars)
        var row = [true] + text.map { _ in false }
        for point in pattern.unicodeScalars {
            var next = [point == "*" && row[0]]
            for (index, letter) in text.enumerated() {
                switch point {
                case "*": next.append(next[index] || row[index + 1])
                case "?": next.append(row[index])
                default: next.append(row[index] && letter == point)
                }
            }
            row = next
        }
        return row[text.count]
    }
}
