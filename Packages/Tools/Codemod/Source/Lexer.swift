/// Splits Swift source into tokens in one pass, without recursion. Afterwards, comments (including nested ones),
/// strings (raw, multi-line, with nested interpolations) and regular expressions never look like code.
struct Lexer {
    /// Interpolations nested more deeply than this are refused.
    static let maximumDepth = 256
    /// How many bytes ahead to look for the end of a regular expression, or of a string between typographic quotes.
    static let maximumLookahead = 1_024

    private struct OpenString {
        let start: Int
        let pounds: Int
        let isMultiline: Bool
        let isSmart: Bool
    }

    private struct Interpolation {
        let string: OpenString
        let start: Int
        var depth = 0
    }

    private let bytes: [UInt8]
    private var position = 0
    private var startsLine = true
    private var interpolations: [Interpolation] = []
    private(set) var tokens: [Token] = []
    private(set) var smartQuotes: [SmartQuote] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads to the end of the source.
    mutating func run() throws(LexerProblem) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        if starts("#!") { skipLine() }
        while position < bytes.count { try next() }
        if let open = interpolations.last {
            throw LexerProblem(offset: open.start, message: "The interpolation that starts here never ends.")
        }
    }

    private mutating func next() throws(LexerProblem) {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            startsLine = true
            position += 1
        case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0B, 0x0C: position += 1
        case 0xC2 where byteAt(1) == 0xA0: position += 2
        case UInt8(ascii: "/") where byteAt(1) == UInt8(ascii: "/"): skipLine()
        case UInt8(ascii: "/") where byteAt(1) == UInt8(ascii: "*"): try skipComment()
        case UInt8(ascii: "/"): if !regex() { emit(.punctuation, 1) }
        case UInt8(ascii: "\""): try openString(pounds: 0)
        case UInt8(ascii: "#"): try pound()
        case UInt8(ascii: "`"): quotedIdentifier()
        case UInt8(ascii: "0")...UInt8(ascii: "9"): number()
        case UInt8(ascii: "("):
            if !interpolations.isEmpty { interpolations[interpolations.count - 1].depth += 1 }
            emit(.punctuation, 1)
        case UInt8(ascii: ")"): try closeParenthesis()
        default:
            if let quote = smartQuoteLength(position) {
                try smartString(quote)
            } else if Self.isIdentifier(byte) {
                identifier()
            } else {
                emit(.punctuation, 1)
            }
        }
    }

    private mutating func emit(_ kind: Token.Kind, _ length: Int) {
        tokens.append(Token(kind: kind, range: position..<position + length, startsLine: startsLine))
        startsLine = false
        position += length
    }

    // MARK: Comments

    private mutating func skipLine() {
        while position < bytes.count, !isNewline(bytes[position]) { position += 1 }
    }

    private mutating func skipComment() throws(LexerProblem) {
        let start = position
        var depth = 0
        repeat {
            guard position < bytes.count else {
                throw LexerProblem(offset: start, message: "The comment that starts here never ends.")
            }
            if starts("/*") {
                depth += 1
                position += 2
            } else if starts("*/") {
                depth -= 1
                position += 2
            } else {
                if isNewline(bytes[position]) { startsLine = true }
                position += 1
            }
        } while depth > 0
    }

    // MARK: Words

    private mutating func identifier() {
        var end = position
        while end < bytes.count, Self.isIdentifier(bytes[end]) || Self.isDigit(bytes[end]) {
            if smartQuoteLength(end) != nil || (bytes[end] == 0xC2 && end + 1 < bytes.count && bytes[end + 1] == 0xA0) {
                break
            }
            end += 1
        }
        emit(.identifier, max(end - position, 1))
    }

    private mutating func quotedIdentifier() {
        var end = position + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "`"), !isNewline(bytes[end]) { end += 1 }
        let isClosed = end < bytes.count && bytes[end] == UInt8(ascii: "`")
        if isClosed { emit(.identifier, end + 1 - position) } else { emit(.punctuation, 1) }
    }

    private mutating func number() {
        var end = position
        func isDigitLike(_ byte: UInt8) -> Bool {
            Self.isDigit(byte) || byte == UInt8(ascii: "_") || (byte < 0x80 && Self.isIdentifier(byte))
        }
        while end < bytes.count, isDigitLike(bytes[end]) { end += 1 }
        if end + 1 < bytes.count, bytes[end] == UInt8(ascii: "."), Self.isDigit(bytes[end + 1]) {
            end += 1
            while end < bytes.count, isDigitLike(bytes[end]) { end += 1 }
        }
        emit(.number, end - position)
    }

    private mutating func pound() throws(LexerProblem) {
        var end = position
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        let pounds = end - position
        guard end < bytes.count else { return emit(.punctuation, pounds) }
        if bytes[end] == UInt8(ascii: "\"") { return try openString(pounds: pounds) }
        if bytes[end] == UInt8(ascii: "/") { return try extendedRegex(pounds: pounds) }
        var word = end
        while word < bytes.count, bytes[word] < 0x80, Self.isIdentifier(bytes[word]) { word += 1 }
        emit(pounds == 1 && word > end ? .directive : .punctuation, word - position)
    }

    // MARK: Regular expressions

    /// `/…/` where a value may begin, if it ends on the same line.
    private mutating func regex() -> Bool {
        if let last = tokens.last {
            switch last.kind {
            case .identifier:
                let keywords = ["return", "in", "case", "try", "await", "throw", "where", "if", "while", "guard"]
                guard keywords.contains(String(decoding: bytes[last.range], as: UTF8.self)) else { return false }
            case .punctuation:
                let ends: [UInt8] = [UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "!")]
                guard !ends.contains(bytes[last.range.lowerBound]) else { return false }
            default: return false
            }
        }
        guard let following = byteAt(1), following != UInt8(ascii: " "), following != UInt8(ascii: "\t") else {
            return false
        }
        var end = position + 1
        let limit = min(bytes.count, position + Self.maximumLookahead)
        while end < limit, !isNewline(bytes[end]) {
            if bytes[end] == UInt8(ascii: "\\") {
                end += 2
            } else if bytes[end] == UInt8(ascii: "/") {
                emit(.regex, end + 1 - position)
                return true
            } else {
                end += 1
            }
        }
        return false
    }

    private mutating func extendedRegex(pounds: Int) throws(LexerProblem) {
        let start = position
        var end = position + pounds + 1
        while end < bytes.count {
            if bytes[end] == UInt8(ascii: "/"), isPounds(at: end + 1, pounds) {
                return emit(.regex, end + 1 + pounds - position)
            }
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        throw LexerProblem(offset: start, message: "The regular expression that starts here never ends.")
    }

    // MARK: Strings

    private mutating func openString(pounds: Int) throws(LexerProblem) {
        let quotes = position + pounds
        let triple = quotes + 2 < bytes.count && bytes[quotes...(quotes + 2)].allSatisfy { $0 == UInt8(ascii: "\"") }
        let string = OpenString(start: position, pounds: pounds, isMultiline: triple, isSmart: false)
        try readString(string, from: quotes + (triple ? 3 : 1))
    }

    /// A typographic quote opens a string if the line has another one. Otherwise it becomes a stray quote.
    private mutating func smartString(_ length: Int) throws(LexerProblem) {
        var end = position + length
        let limit = min(bytes.count, position + Self.maximumLookahead)
        while end < limit, !isNewline(bytes[end]) {
            if closesSmart(position, at: end) {
                let string = OpenString(start: position, pounds: 0, isMultiline: false, isSmart: true)
                return try readString(string, from: position + length)
            }
            end += 1
        }
        emit(.strayQuote, length)
    }

    /// Reads a piece of a string, from where its text begins or continues to its end or to an interpolation.
    private mutating func readString(_ string: OpenString, from start: Int) throws(LexerProblem) {
        var end = start
        var lastSmart: Range<Int>?
        while end < bytes.count {
            let byte = bytes[end]
            if byte == UInt8(ascii: "\\") {
                let escaped = end + 1 + string.pounds
                guard isPounds(at: end + 1, string.pounds), escaped < bytes.count else {
                    end += 1
                    continue
                }
                if bytes[escaped] == UInt8(ascii: "(") {
                    guard interpolations.count < Self.maximumDepth else {
                        throw LexerProblem(offset: end, message: "Interpolations are nested too deeply.")
                    }
                    emit(.string, end - position)
                    let opening = position
                    emit(.interpolationStart, escaped + 1 - end)
                    interpolations.append(Interpolation(string: string, start: opening))
                    return
                }
                end = isNewline(bytes[escaped]) ? escaped : escaped + 1
            } else if isNewline(byte), !string.isMultiline {
                break
            } else if string.isSmart {
                if closesSmart(string.start, at: end) {
                    return closeSmart(string, end..<end + (smartQuoteLength(end) ?? 1))
                }
                end += 1
            } else if let length = smartQuoteLength(end) {
                if lastSmart == nil, isDouble(end) { lastSmart = end..<end + length }
                end += length
            } else if byte == UInt8(ascii: "\"") {
                let quotes = string.isMultiline ? 3 : 1
                let isEnd =
                    end + quotes <= bytes.count && bytes[end..<end + quotes].allSatisfy { $0 == UInt8(ascii: "\"") }
                    && isPounds(at: end + quotes, string.pounds)
                if isEnd { return emit(.string, end + quotes + string.pounds - position) }
                end += 1
            } else {
                end += 1
            }
        }
        if let lastSmart, !string.isMultiline, string.pounds == 0 {
            return closeSmart(string, lastSmart)
        }
        throw LexerProblem(offset: string.start, message: "The string that starts here never ends.")
    }

    private mutating func closeSmart(_ string: OpenString, _ closing: Range<Int>) {
        let opening = string.start..<string.start + (smartQuoteLength(string.start) ?? 1)
        smartQuotes.append(
            SmartQuote(
                opening: opening, closing: closing,
                holdsPlainQuote: bytes[opening.upperBound..<closing.lowerBound].contains(UInt8(ascii: "\""))))
        emit(.string, closing.upperBound - position)
    }

    /// Whether the quote at this position closes a string that a typographic quote opened: ’ closes ‘, and any double
    /// quote closes “ and ”.
    private func closesSmart(_ opening: Int, at place: Int) -> Bool {
        if isDouble(opening) { return bytes[place] == UInt8(ascii: "\"") || isDouble(place) }
        return smartQuoteLength(place) != nil && bytes[opening + 2] == 0x98 && bytes[place + 2] == 0x99
    }

    /// Whether there is a “ or ” at this position.
    private func isDouble(_ place: Int) -> Bool { smartQuoteLength(place) != nil && bytes[place + 2] >= 0x9C }

    private mutating func closeParenthesis() throws(LexerProblem) {
        guard let open = interpolations.last else { return emit(.punctuation, 1) }
        if open.depth > 0 {
            interpolations[interpolations.count - 1].depth -= 1
            return emit(.punctuation, 1)
        }
        interpolations.removeLast()
        emit(.interpolationEnd, 1)
        try readString(open.string, from: position)
    }

    // MARK: Bytes

    private func byteAt(_ distance: Int) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private func starts(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { expected in
            position + expected.count <= bytes.count
                && bytes[position..<position + expected.count].elementsEqual(expected)
        }
    }

    private func isPounds(at start: Int, _ count: Int) -> Bool {
        start + count <= bytes.count && bytes[start..<start + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    /// The length of a “, ”, ‘ or ’ at this position.
    private func smartQuoteLength(_ place: Int) -> Int? {
        guard place + 2 < bytes.count, bytes[place] == 0xE2, bytes[place + 1] == 0x80 else { return nil }
        return [0x98, 0x99, 0x9C, 0x9D].contains(bytes[place + 2]) ? 3 : nil
    }

    private func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isIdentifier(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }
}
