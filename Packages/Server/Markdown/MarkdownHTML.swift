import TomboloHTTP

/// Converts Markdown to HTML. It supports a documented part of [CommonMark](https://spec.commonmark.org/0.31.2/):
/// paragraphs and line breaks, headings, emphasis, code, links, lists, quotes and rules. `docs/panel.md` says what is
/// missing.
///
/// The texts are untrusted. All of their characters are escaped, HTML in them is shown as text, and the only
/// attributes are addresses that ``MarkdownAddress`` accepts and the start numbers of lists. Time and output are
/// linear in the length, and nesting is bounded.
package struct MarkdownHTML {
    /// The longest text that is formatted. Longer ones are shown as plain text.
    package static let maximumByteCount = 64 << 10
    private static let lowestHeading = 6

    /// The level of the text's top headings: one below the page heading that precedes the text.
    private let firstHeading: Int
    /// The levels, as written, of the headings that the next block is under.
    private var headings: [Int] = []
    package private(set) var text = ""

    /// - Parameter firstHeading: the level for the text's top headings.
    package init(_ markdown: String, firstHeading: Int) {
        self.firstHeading = firstHeading
        for block in MarkdownBlockParser.blocks(of: markdown) { add(block, isTight: false) }
    }

    private mutating func add(_ block: MarkdownBlock, isTight: Bool) {
        switch block {
        case .paragraph(let scalars):
            let html = MarkdownInlines.html(of: scalars)
            text += isTight ? "\(html)\n" : "<p>\(html)</p>\n"
        case .heading(let level, let scalars): addHeading(level, scalars)
        case .code(let scalars):
            text += "<pre><code>\(HTMLPage.escape(String(String.UnicodeScalarView(scalars))))</code></pre>\n"
        case .rule: text += "<hr>\n"
        case .quote(let blocks):
            text += "<blockquote>\n"
            for block in blocks { add(block, isTight: false) }
            text += "</blockquote>\n"
        case .list(let start, let isLoose, let items):
            text += start.map { $0 == 1 ? "<ol>\n" : "<ol start=\"\($0)\">\n" } ?? "<ul>\n"
            for item in items {
                text += "<li>"
                for block in item { add(block, isTight: !isLoose) }
                text += "</li>\n"
            }
            text += start == nil ? "</ul>\n" : "</ol>\n"
        }
    }

    /// Below the page's own headings, and at most one level below the previous heading.
    private mutating func addHeading(_ level: Int, _ scalars: MarkdownScalars) {
        // Screen readers list headings, even empty ones.
        guard scalars.contains(where: \.isVisible) else { return }
        while let last = headings.last, last >= level { headings.removeLast() }
        headings.append(level)
        let shown = min(firstHeading + headings.count - 1, Self.lowestHeading)
        text += "<h\(shown)>\(MarkdownInlines.html(of: scalars))</h\(shown)>\n"
    }
}
