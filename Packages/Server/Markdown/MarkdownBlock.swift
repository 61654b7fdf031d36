/// A block of a text in Markdown.
enum MarkdownBlock {
    /// Lines of text, without the whitespace that they begin with.
    case paragraph(MarkdownScalars)
    /// - Parameter level: 1 to 6, as it's written.
    case heading(level: Int, MarkdownScalars)
    case code(MarkdownScalars)
    case rule
    case quote([MarkdownBlock])
    /// - Parameters:
    ///   - start: the first number; nil for a list with bullets.
    ///   - isLoose: whether its items are paragraphs, because blank lines are between them.
    case list(start: Int?, isLoose: Bool, items: [[MarkdownBlock]])
}

/// Texts are read by characters of Unicode: what people see as one character may begin with one that has a meaning.
typealias MarkdownScalars = [Unicode.Scalar]
