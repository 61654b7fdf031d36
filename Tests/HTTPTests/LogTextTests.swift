import Testing
import TomboloHTTP

@Suite struct LogTextTests {
    @Test("a name in a log can't add lines, colours or a change of direction")
    func hidden() {
        #expect("Zoë O'Neil 李".forLog == "Zoë O'Neil 李")
        #expect("Eve\n2026 notice".forLog == "Eve\\u{a}2026 notice")
        #expect("\u{1B}[31mred\u{202E}\u{2028}\u{85}".forLog == "\\u{1b}[31mred\\u{202e}\\u{2028}\\u{85}")
    }
}
