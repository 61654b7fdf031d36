import Mustache
import TomboloHTTP

/// Escapes by characters of Unicode: Mustache's own way goes by what people see as one character, and leaves a quotation
/// mark alone that a combining accent follows.
struct PanelEscaping: MustacheContentType {
    static let name = "PANEL"

    /// Registers it, once.
    static let registered: Void = MustacheContentTypes.register(PanelEscaping(), named: name)

    func escapeText(_ text: String) -> String { HTMLPage.escape(text) }
}
