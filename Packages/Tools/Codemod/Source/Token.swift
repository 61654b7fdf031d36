/// A stretch of source that is neither white space nor comment.
struct Token {
    enum Kind {
        /// A name or keyword, with its backticks if it has any.
        case identifier
        case number
        /// A piece of a string literal: all of it, or what lies between interpolations.
        case string
        /// `\(` of an interpolation, and the `)` that ends it.
        case interpolationStart
        case interpolationEnd
        /// `#if`, `#keyPath`, `#selector`, …
        case directive
        case regex
        /// One of `( ) [ ] { } , ; : . @`, or one character of an operator.
        case punctuation
        /// A typographic quote that belongs to no string.
        case strayQuote
    }

    var kind: Kind
    /// Bytes of the source.
    var range: Range<Int>
    /// Whether it is the first token of its line.
    var startsLine: Bool
}
