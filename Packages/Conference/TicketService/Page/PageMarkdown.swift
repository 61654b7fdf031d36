import Mustache
import TomboloMarkdown

/// A Markdown text for the page, formatted and fully escaped. The template inserts it with triple braces.
struct PageMarkdown: MustacheCustomRenderable {
    let renderText: String

    /// - Parameter firstHeading: the level of the text's highest headings, one below the page's heading above it.
    /// - Returns: nil for nil, and for text without visible content.
    init?(_ markdown: String?, firstHeading: Int) {
        guard let text = PageText(nonEmpty: markdown), let markdown else { return nil }
        // A longer text is shown unformatted.
        let isFormatted = markdown.utf8.count <= MarkdownHTML.maximumByteCount
        renderText = isFormatted ? MarkdownHTML(markdown, firstHeading: firstHeading).text : text.renderText
        if isNull { return nil }
    }

    var isNull: Bool { renderText.isEmpty }
}
