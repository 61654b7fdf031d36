/// A piece of source that is neither white space nor a comment.
struct Token {
    enum Kind {
        /// A name or keyword, including its backticks if it has any.
        case identifier
        case number
        /// A piece of a string literal: all of it, or the text between interpolations.
        case string
        /// The `\(` of an interpolation, and the `)` that ends it.
        case interpolationStart
        case interpolationEnd
        /// `#if`, `#keyPath`, `#selector`, …
        case directive
        case regex
        /// One of `( ) [ ] { } , ; : . @`, or a single character of an operator.
        case punctuation
        /// A typographic quote that doesn't belong to a string.
        case strayQuote
    }

    var kind: Kind
    /// The bytes in the source.
    var range: Range<Int>
    /// Whether it is the first token of its line.
    var startsLine: Bool
}
