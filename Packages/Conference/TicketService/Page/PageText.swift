import Mustache
import TomboloHTTP

/// Text for the page, escaped. The template takes it in triple braces and gets nothing else: Mustache's own escaping
/// goes by grapheme clusters and leaves a quotation mark alone that a combining accent follows.
struct PageText: MustacheCustomRenderable, Equatable {
    let renderText: String

    init(_ text: String) { renderText = HTMLPage.escape(text) }

    /// Nil for nil and for text that shows nothing.
    init?(nonEmpty text: String?) {
        guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
        self.init(text)
    }

    /// Names in one line, of which none turns the others around, as with U+202E; nil if there's nothing to show.
    init?(names: [String]) {
        guard names.contains(where: { !$0.allSatisfy(\.isWhitespace) }) else { return nil }
        renderText = names.map { "<bdi>\(HTMLPage.escape($0))</bdi>" }.joined(separator: ", ")
    }

    /// A link's address; nil unless it is a web address.
    init?(webAddress text: String?) {
        guard let address = text.flatMap(HTMLPage.webAddress) else { return nil }
        self.init(address)
    }

    var isNull: Bool { false }
}
