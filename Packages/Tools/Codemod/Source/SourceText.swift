/// A file split into tokens, with matched brackets and known line starts.
struct SourceText {
    /// Generic arguments and clauses with more tokens than this aren't read, because each unclosed one would
    /// otherwise cost a search of the whole file.
    static let maximumSignature = 256

    let path: String
    let bytes: [UInt8]
    let tokens: [Token]
    let smartQuotes: [SmartQuote]
    /// For each bracket, the token index of its partner; -1 for every other token.
    private let partners: [Int]
    private let lineStarts: [Int]

    /// - Throws: ``LexerProblem`` for source with unterminated strings, comments or brackets.
    init(path: String, text: String) throws(LexerProblem) {
        self.path = path
        bytes = Array(text.utf8)
        var lexer = Lexer(bytes)
        try lexer.run()
        tokens = lexer.tokens
        smartQuotes = lexer.smartQuotes
        lineStarts = Self.lineStarts(bytes)
        partners = try Self.pairs(tokens, bytes)
    }

    // MARK: Tokens

    func text(_ token: Int) -> String {
        guard tokens.indices.contains(token) else { return "" }
        return String(decoding: bytes[tokens[token].range], as: UTF8.self)
    }

    /// The source text from the first token of a range up to its end.
    func text(_ range: Range<Int>) -> String {
        guard let span = span(range) else { return "" }
        return String(decoding: bytes[span], as: UTF8.self)
    }

    /// The bytes of a range of tokens.
    func span(_ range: Range<Int>) -> Range<Int>? {
        guard !range.isEmpty else { return nil }
        return tokens[range.lowerBound].range.lowerBound..<tokens[range.upperBound - 1].range.upperBound
    }

    func isToken(_ token: Int, _ text: StaticString) -> Bool {
        guard tokens.indices.contains(token) else { return false }
        let range = tokens[token].range
        return text.withUTF8Buffer { $0.count == range.count && bytes[range].elementsEqual($0) }
    }

    func isIdentifier(_ token: Int) -> Bool { tokens.indices.contains(token) && tokens[token].kind == .identifier }

    /// A name without its backticks, or nil if the token isn't a name.
    func name(_ token: Int) -> String? {
        guard isIdentifier(token) else { return nil }
        let text = text(token)
        return text.count > 2 && text.hasPrefix("`") ? String(text.dropFirst().dropLast()) : text
    }

    /// Whether a token directly follows the previous one.
    func isAdjacent(_ token: Int) -> Bool {
        token > 0 && token < tokens.count && tokens[token - 1].range.upperBound == tokens[token].range.lowerBound
    }

    func startsLine(_ token: Int) -> Bool { token >= tokens.count || tokens[token].startsLine }

    /// The matching bracket.
    func partner(_ token: Int) -> Int? {
        guard tokens.indices.contains(token), partners[token] >= 0 else { return nil }
        return partners[token]
    }

    /// The next token, skipping to after the matching bracket if this one opens a bracket.
    func next(_ token: Int) -> Int {
        guard let partner = partner(token), partner > token else { return token + 1 }
        return partner + 1
    }

    /// The token after the `<…>` that opens here, or nil if it isn't closed before a brace or the end of the file.
    func afterGenericArguments(_ start: Int) -> Int? {
        guard isToken(start, "<") else { return start }
        var depth = 0
        var token = start
        while token < min(tokens.count, start + Self.maximumSignature) {
            if isToken(token, "<") {
                depth += 1
            } else if isToken(token, ">"), !(isAdjacent(token) && isToken(token - 1, "-")) {
                depth -= 1
                if depth == 0 { return token + 1 }
            } else if isToken(token, "{") || isToken(token, "}") || isToken(token, ";") || isToken(token, ")") {
                return nil
            }
            token = next(token)
        }
        return nil
    }

    /// The value of a string literal that has no interpolation and no escapes.
    func literal(_ token: Int) -> String? {
        guard tokens.indices.contains(token), tokens[token].kind == .string else { return nil }
        let text = text(token)
        let quotes: Set<Character> = ["\"", "\u{201C}", "\u{201D}"]
        guard let first = text.first, let last = text.last, text.count >= 2, quotes.contains(first),
            quotes.contains(last), !text.contains("\\"), !text.hasPrefix("\"\"\"")
        else { return nil }
        return String(text.dropFirst().dropLast())
    }

    /// Whether there is a comment between the first and the last token of a range.
    func holdsComment(_ range: Range<Int>) -> Bool {
        guard range.count > 1 else { return false }
        return (range.lowerBound + 1..<range.upperBound).contains { token in
            bytes[tokens[token - 1].range.upperBound..<tokens[token].range.lowerBound].contains(UInt8(ascii: "/"))
        }
    }

    // MARK: Lines

    /// The line of a byte, counted from 0.
    func line(_ offset: Int) -> Int {
        var low = 0
        var high = lineStarts.count
        while low + 1 < high {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    /// The bytes of whole lines, counted from 0, including line endings.
    func bytes(ofLines lines: ClosedRange<Int>) -> Range<Int> {
        let end = lines.upperBound + 1 < lineStarts.count ? lineStarts[lines.upperBound + 1] : bytes.count
        return lineStarts[lines.lowerBound]..<end
    }

    /// The leading white space of a byte's line.
    func indentation(_ offset: Int) -> String {
        let start = lineStarts[line(offset)]
        let end = bytes[start...].firstIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } ?? bytes.count
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// The line ending that this file uses.
    var newline: String {
        guard let end = bytes.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
            return "\n"
        }
        if bytes[end] == UInt8(ascii: "\n") { return "\n" }
        return end + 1 < bytes.count && bytes[end + 1] == UInt8(ascii: "\n") ? "\r\n" : "\r"
    }

    private static func lineStarts(_ bytes: [UInt8]) -> [Int] {
        var starts = [0]
        for (position, byte) in bytes.enumerated() {
            let isCarriageReturn = byte == UInt8(ascii: "\r")
            let isPair = isCarriageReturn && position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "\n")
            if byte == UInt8(ascii: "\n") || (isCarriageReturn && !isPair) { starts.append(position + 1) }
        }
        return starts
    }

    private static func pairs(_ tokens: [Token], _ bytes: [UInt8]) throws(LexerProblem) -> [Int] {
        var partners = [Int](repeating: -1, count: tokens.count)
        var open: [Int] = []
        for (position, token) in tokens.enumerated() {
            let closing: UInt8
            switch token.kind {
            case .interpolationStart:
                open.append(position)
                continue
            case .interpolationEnd: closing = 0
            case .punctuation: closing = bytes[token.range.lowerBound]
            default: continue
            }
            switch closing {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
                open.append(position)
                continue
            case 0, UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): break
            default: continue
            }
            let sign = closing == 0 ? ")" : String(UnicodeScalar(closing))
            guard let partner = open.popLast() else {
                throw LexerProblem(offset: token.range.lowerBound, message: "This '\(sign)' closes nothing.")
            }
            let opening = tokens[partner]
            let expected: UInt8 =
                opening.kind == .interpolationStart
                ? 0
                : [UInt8(ascii: "("): UInt8(ascii: ")"), UInt8(ascii: "["): UInt8(ascii: "]")][
                    bytes[opening.range.lowerBound]] ?? UInt8(ascii: "}")
            guard expected == closing else {
                let text = String(decoding: bytes[opening.range], as: UTF8.self)
                throw LexerProblem(
                    offset: opening.range.lowerBound, message: "This '\(text)' is closed by a '\(sign)'.")
            }
            partners[partner] = position
            partners[position] = partner
        }
        if let unclosed = open.last {
            let text = String(decoding: bytes[tokens[unclosed].range], as: UTF8.self)
            throw LexerProblem(
                offset: tokens[unclosed].range.lowerBound, message: "This '\(text)' is never closed.")
        }
        return partners
    }
}
