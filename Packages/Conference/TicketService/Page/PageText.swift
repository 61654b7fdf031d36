import Mustache
import TomboloHTTP

/// Text for the page, escaped. The template inserts it with triple braces, and gets no other kind of text. Mustache's
/// own escaping works on grapheme clusters, so it misses a quotation mark that is followed by a combining accent.
struct PageText: MustacheCustomRenderable, Equatable {
    let renderText: String

    init(_ text: String) { renderText = HTMLPage.escape(text) }

    /// Nil for nil, and for text without visible content.
    init?(nonEmpty text: String?) {
        guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
        self.init(text)
    }

    /// Names on one line, isolated so that none can reverse the others, as with U+202E; nil if there's nothing to
    /// show.
    init?(names: [String]) {
        guard names.contains(where: { !$0.allSatisfy(\.isWhitespace) }) else { return nil }
        renderText = names.map { "<bdi>\(HTMLPage.escape($0))</bdi>" }.joined(separator: ", ")
    }

    /// The address of a link; nil unless it's a web address.
    init?(webAddress text: String?) {
        guard let address = text.flatMap(HTMLPage.webAddress) else { return nil }
        self.init(address)
    }

    var isNull: Bool { false }
}
