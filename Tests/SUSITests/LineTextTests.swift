import Testing

@testable import SUSI

@Suite struct LineTextTests {
    @Test("Text from a server can't control the terminal")
    func controlCharacters() {
        #expect(LineText.line("a\nb\u{1B}[31mc\u{9B}d\u{202E}e\u{2028}f\r\0") == "a b [31mc de f  ")
        #expect(LineText.line("👩‍🚀 é עברית") == "👩‍🚀 é עברית")
    }

    @Test("Only the beginning of a long text is shown")
    func excerpts() {
        let long = String(repeating: "é", count: LineText.maximumLength + 1)
        #expect(LineText.line(long) == "\(long.dropLast())… (4002 bytes)")
    }
}
