import Mustache
import TomboloMarkdown

/// A text in Markdown for the page, formatted, with everything in it escaped. The template takes it in triple braces.
struct PageMarkdown: MustacheCustomRenderable {
    let renderText: String

    /// - Parameter firstHeading: the level that the highest headings get, below the heading before the text.
    /// - Returns: nil for nil, and for text that shows nothing.
    init?(_ markdown: String?, firstHeading: Int) {
        guard let text = PageText(nonEmpty: markdown), let markdown else { return nil }
        // A longer one is shown as it is.
        let isFormatted = markdown.utf8.count <= MarkdownHTML.maximumByteCount
        renderText = isFormatted ? MarkdownHTML(markdown, firstHeading: firstHeading).text : text.renderText
        if isNull { return nil }
    }

    var isNull: Bool { renderText.isEmpty }
}
