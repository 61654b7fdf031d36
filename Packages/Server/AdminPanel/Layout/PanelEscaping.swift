import Mustache
import TomboloHTTP

/// Escapes by Unicode scalars. Mustache's own escaping goes by grapheme clusters, so it misses a quotation mark that is
/// followed by a combining accent.
struct PanelEscaping: MustacheContentType {
    static let name = "PANEL"

    /// Registers the content type once.
    static let registered: Void = MustacheContentTypes.register(PanelEscaping(), named: name)

    func escapeText(_ text: String) -> String { HTMLPage.escape(text) }
}
