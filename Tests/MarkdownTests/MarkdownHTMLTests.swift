import Foundation
import Testing

@testable import TomboloMarkdown

/// Untrusted Markdown rendered as HTML.
@Suite struct MarkdownHTMLTests {
    private static func html(_ text: String) -> String { MarkdownHTML(text, firstHeading: 3).text }

    private static func link(_ address: String, _ text: String) -> String {
        "<a href=\"\(address)\" rel=\"noopener nofollow\">\(text)</a>"
    }

    @Test(
        "blocks follow CommonMark",
        arguments: [
            ("", ""), (" \n\t\n", ""), ("a\nb\n\nc", "<p>a\nb</p>\n<p>c</p>\n"),
            ("a\r\n\r\nb\rc", "<p>a</p>\n<p>b\nc</p>\n"),
            ("a  \nb\\\nc", "<p>a<br>\nb<br>\nc</p>\n"), ("a  ", "<p>a</p>\n"),
            ("# a #\n## b\n#c", "<h3>a</h3>\n<h4>b</h4>\n<p>#c</p>\n"), ("a\n===\nb\n---", "<h3>a</h3>\n<h4>b</h4>\n"),
            ("***\n- - -", "<hr>\n<hr>\n"), ("    a\n\n     b\n\nc", "<pre><code>a\n\n b\n</code></pre>\n<p>c</p>\n"),
            ("a\n    b", "<p>a\nb</p>\n"),
            ("```swift\na\n\n<b>\n```\nc", "<pre><code>a\n\n&lt;b&gt;\n</code></pre>\n<p>c</p>\n"),
            ("~~~\n# a", "<pre><code># a\n</code></pre>\n"), ("- a\n- b", "<ul>\n<li>a\n</li>\n<li>b\n</li>\n</ul>\n"),
            ("- a\n\n- b", "<ul>\n<li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ul>\n"),
            ("- a\n  - b\nc", "<ul>\n<li>a\n<ul>\n<li>b\nc\n</li>\n</ul>\n</li>\n</ul>\n"),
            ("- a\n\nb", "<ul>\n<li>a\n</li>\n</ul>\n<p>b</p>\n"), ("-\n  a", "<ul>\n<li>a\n</li>\n</ul>\n"),
            ("3. a\n4. b", "<ol start=\"3\">\n<li>a\n</li>\n<li>b\n</li>\n</ol>\n"),
            ("- a\n+ b", "<ul>\n<li>a\n</li>\n</ul>\n<ul>\n<li>b\n</li>\n</ul>\n"), ("a\n2. b", "<p>a\n2. b</p>\n"),
            ("1234567890. a", "<p>1234567890. a</p>\n"), ("-a", "<p>-a</p>\n"),
            ("> a\nb\n> c", "<blockquote>\n<p>a\nb\nc</p>\n</blockquote>\n"),
            (
                "> - a\n>   ```\n>   b\n",
                "<blockquote>\n<ul>\n<li>a\n<pre><code>b\n</code></pre>\n</li>\n</ul>\n</blockquote>\n"
            ),
            (">\u{301}a", "<blockquote>\n<p>\u{301}a</p>\n</blockquote>\n"),
        ])
    func blocks(text: String, html: String) {
        #expect(Self.html(text) == html)
    }

    @Test(
        "emphasis, code, links and escapes follow CommonMark",
        arguments: [
            ("*a* _b_ **c** __d__", "<em>a</em> <em>b</em> <strong>c</strong> <strong>d</strong>"),
            ("***a** b* *c **d***", "<em><strong>a</strong> b</em> <em>c <strong>d</strong></em>"),
            ("*a**b*", "<em>a**b</em>"), ("a * b * c, 2*3*4", "a * b * c, 2<em>3</em>4"),
            ("snake_case_name", "snake_case_name"),
            ("**“a”** *b", "<strong>“a”</strong> *b"), (#"\*a\* \a \\"#, #"*a* \a \"#),
            ("`*a* <b>` `` a ` b ``", "<code>*a* &lt;b&gt;</code> <code>a ` b</code>"),
            ("`a ``b`", "<code>a ``b</code>"), ("`a", "`a"), ("*[a*](http://b.c)", "*" + link("http://b.c", "a*")),
            ("[*a*](https://b.c/d(e) \"t\")", link("https://b.c/d(e)", "<em>a</em>")),
            ("[a](<HTTP://b.c>)", link("HTTP://b.c", "a")), ("[a](mailto:b@c.d)", link("mailto:b@c.d", "a")),
            (
                "<https://a.b/?c=1&d=\"2\">",
                link("https://a.b/?c=1&amp;d=&quot;2&quot;", "https://a.b/?c=1&amp;d=&quot;2&quot;")
            ),
            ("[a [b](http://c.d) e](http://f.g)", "[a \(link("http://c.d", "b")) e](http://f.g)"),
            ("![a](http://b.c)", "!" + link("http://b.c", "a")), ("[](http://a.b)", link("http://a.b", "http://a.b")),
            ("[*\u{200b}*](http://a.b)", link("http://a.b", "<em>\u{200b}</em>http://a.b")),
            ("&lt; &amp; & < > \" '", "&amp;lt; &amp;amp; &amp; &lt; &gt; &quot; &#39;"),
        ])
    func inlines(text: String, html: String) {
        #expect(Self.html(text) == "<p>\(html)</p>\n")
    }

    @Test(
        "anything harmful is rendered as text",
        arguments: [
            "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))",
            "[a](JavaScript:alert(1))",
            "[a](java\nscript:alert(1))", "[a](javascript&#58;alert(1))", "[a](data:text/html,x)", "[a](vbscript:x)",
            "[a](//evil.example)", "[a](/panel/logout)", "[a](http:evil.example)", "[a](https://)", "[a](mailto:)",
            "<javascript:alert(1)>", "<a href=\"javascript:alert(1)\">", "[a]\n(http://b.c)", "[a] (http://b.c)",
            "[a](http://b.c", "[a](http://b.c d)", "[a](<http://b.c\nd>)", "[a](ftp://b.c)", "&lt;script&gt;",
            "<!-- a -->",
            "[a](\u{0}javascript:x)", "[a](\u{1}http://b.c)", "<\u{301}script>",
        ])
    func harm(text: String) {
        let html = Self.html(text)
        #expect(!html.replacing("<p>", with: "").replacing("</p>", with: "").contains("<"), "\(html)")
    }

    @Test("a link's address can't break out of its attribute")
    func attribute() {
        #expect(
            Self.html("[a](http://b.c/\"onclick='x'<y>)")
                == "<p>\(Self.link("http://b.c/&quot;onclick=&#39;x&#39;&lt;y&gt;", "a"))</p>\n")
    }

    @Test("headings start below the page's own, skip no level, and are never empty")
    func headings() {
        let html = Self.html("## a\n###### b\n# c\n#\n### d\n#### e\n##### f\n###### g\n# \u{200b}")
        #expect(
            html.matches(of: /<h(\d)>([^<]*)/).map { "\($0.1)\($0.2)" } == ["3a", "4b", "3c", "4d", "5e", "6f", "6g"])
        #expect(MarkdownHTML("# a", firstHeading: 2).text == "<h2>a</h2>\n")
    }

    // MARK: Hostile texts

    private static func tag() throws -> Regex<AnyRegexOutput> {
        try Regex(
            #"<(/?)(p|h[2-6]|ul|ol|li|blockquote|pre|code|em|strong)>|<(ol) start="[0-9]{1,9}">|<br>|<hr>"#
                + #"|<(a) href="(?:https?://|mailto:)[^"<>']+" rel="noopener nofollow">|<(/)(a)>"#
        ).ignoresCase().matchingSemantics(.unicodeScalar)
    }

    /// Whether all unescaped markup consists of known tags, each closed where it must be, with no link inside another.
    private static func isSound(_ html: String) throws -> Bool {
        let tag = try tag()
        let rest = html.replacing(tag, with: "").unicodeScalars
        guard !rest.contains(where: { "<>\"'".unicodeScalars.contains($0) }) else { return false }
        var open: [String] = []
        for match in html.matches(of: tag) {
            let texts = (1..<match.output.count).map { match.output[$0].substring.map(String.init) ?? "" }
            guard let name = texts.first(where: { !$0.isEmpty && $0 != "/" }) else { continue }
            if texts.contains("/") {
                guard open.popLast() == name else { return false }
            } else {
                if name == "a", open.contains("a") { return false }
                open.append(name)
            }
        }
        return open.isEmpty
    }

    @Test("for any input, only known tags are unescaped, and each is closed where it must be")
    func anything() throws {
        let parts = [
            "*", "**", "_", "__", "`", "``", "```\n", "~~~\n", "[", "]", "(", ")", "](http://a)", "](javascript:x)",
            "<", "<b>",
            "<http://x>", ">", "> ", "- ", "1. ", "2) ", "# ", "\n", "\n\n", "    ", "\t", "  \n", "\\", "a", "b c",
            "&", "\"",
            "'", "---\n", "===\n", "é", "“", "\u{200b}", "\u{301}", "\r", "\r\n", "mailto:x", "![",
        ]
        var seed: UInt64 = 7
        func random(_ limit: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % limit
        }
        for _ in 0..<2_000 {
            let text = (0...random(40)).map { _ in parts[random(parts.count)] }.joined()
            let isSound = try Self.isSound(Self.html(text))
            #expect(isSound, "\(text.debugDescription)")
        }
    }

    @Test(
        "the time and the output for many marks grow only with their number",
        arguments: [
            "*", "_", "*_", "**a", "*a_", "a*", "_a *b", "*a **b _c ", "[", "]", "![", "](", "[x](((((", "[](<",
            "](a \"",
            "[a](http://b)", "<", "<a", "<http://a", ">", "> \n", ">-\n\n", ">>>>>>>>x\n\n", "- ", "-\n", "-\n+\n",
            "1.\n1)\n",
            "+ - * ", "`", "`a``b```", "`` ` ", "~~~\n", "# a\n", "===\n", "a\n=\n", "    x\n", "\t", " ", "\\", "&",
            "a\n\n",
        ])
    func hostile(part: String) {
        let byteCount = ["*", "[", ">"].contains(part) ? 1 << 20 : 128 << 10
        let text = String(repeating: part, count: byteCount / part.utf8.count)
        #expect(Self.html(text).utf8.count < text.utf8.count * 32)
    }

    @Test("nesting of quotes, lists and emphasis is bounded")
    func nesting() throws {
        let html = Self.html(
            String(repeating: "> - ", count: 1_000) + "a\n\n" + String(repeating: "*a **b ", count: 1_000)
                + String(repeating: "c** d* ", count: 1_000))
        #expect(try Self.isSound(html))
        #expect(html.matches(of: /<(blockquote|li)>/).count == MarkdownBlockParser.maximumDepth)
        var (depth, deepest) = (0, 0)
        for match in html.matches(of: /<(\/?)(em|strong)>/) {
            depth += match.1.isEmpty ? 1 : -1
            deepest = max(deepest, depth)
        }
        #expect(deepest == MarkdownInlines.maximumDepth && depth == 0)
    }
}
