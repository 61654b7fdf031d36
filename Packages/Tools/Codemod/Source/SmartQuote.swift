/// A string between typographic quotes, as pasted from a web page: one of the two may be a plain quote.
struct SmartQuote {
    /// Bytes of the opening and the closing quote.
    let opening: Range<Int>
    let closing: Range<Int>
    /// Whether a plain quote lies between them, so that replacing them would end the string early.
    let holdsPlainQuote: Bool
}
