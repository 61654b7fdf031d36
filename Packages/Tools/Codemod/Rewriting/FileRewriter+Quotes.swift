/// Handles typographic quotes, as word processors and blogs put them into code.
extension FileRewriter {
    mutating func rewriteQuotes() {
        for quote in source.smartQuotes {
            let text = String(
                decoding: source.bytes[quote.opening.lowerBound..<quote.closing.upperBound].prefix(60), as: UTF8.self)
            guard fixesQuotes, !quote.holdsPlainQuote else {
                report(
                    .warning, atByte: quote.opening.lowerBound, "Typographic quotes in code: \(text)",
                    fixesQuotes
                        ? "There's a plain quote between them: correct it by hand."
                        : "Write plain quotes, or run with --fix-quotes.")
                continue
            }
            for range in [quote.opening, quote.closing] where source.bytes[range.lowerBound] != UInt8(ascii: "\"") {
                edits.append(Edit(range: range, text: "\""))
            }
            counts.others += 1
        }
        for token in source.tokens where token.kind == .strayQuote {
            report(
                .warning, atByte: token.range.lowerBound, "A typographic quote that doesn't belong to a string.",
                "Correct the line by hand.")
        }
    }
}
