/// A block of a Markdown text.
enum MarkdownBlock {
    /// Lines of text without their leading whitespace.
    case paragraph(MarkdownScalars)
    /// - Parameter level: 1 to 6, as written.
    case heading(level: Int, MarkdownScalars)
    case code(MarkdownScalars)
    case rule
    case quote([MarkdownBlock])
    /// - Parameters:
    ///   - start: the first number, or nil for a bullet list.
    ///   - isLoose: whether its items are paragraphs, because blank lines separate them.
    case list(start: Int?, isLoose: Bool, items: [[MarkdownBlock]])
}

/// Texts are processed by Unicode scalar, because what people see as one character may begin with a scalar that has a
/// meaning in Markdown.
typealias MarkdownScalars = [Unicode.Scalar]
