/// A string between typographic quotes, as pasted from a web page. One of the two may be a plain quote.
struct SmartQuote {
    /// The bytes of the opening and closing quotes.
    let opening: Range<Int>
    let closing: Range<Int>
    /// Whether there is a plain quote between them, so that replacing them would end the string early.
    let holdsPlainQuote: Bool
}
