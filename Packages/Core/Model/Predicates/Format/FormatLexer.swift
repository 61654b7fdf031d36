/// Splits a string predicate into tokens.
struct FormatLexer {
    /// The maximum length of a predicate in Unicode scalars. Long values belong in arguments, which don't have this limit.
    static let maximumLength = 1 << 18

    private let text: [Unicode.Scalar]
    private var position = 0
    /// Whether `uuid` or `oid` and its opening parenthesis have just been read. The value that follows needs no quotes.
    private var rawValue = (isNamed: false, isOpen: false)

    private init(_ text: [Unicode.Scalar]) { self.text = text }

    /// The tokens of a text, ending with `.end`.
    static func tokens(of text: [Unicode.Scalar]) throws(FilterFormatError) -> [FormatToken] {
        guard text.count <= maximumLength else {
            throw FilterFormatError(
                "The predicate is \(text.count) characters long; the limit is \(maximumLength). Pass values as "
                    + "arguments.", at: 0, of: text)
        }
        var lexer = FormatLexer(text)
        var tokens: [FormatToken] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
        return tokens
    }

    private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        position + offset < text.count ? text[position + offset] : nil
    }

    private func error(_ message: String, at position: Int) -> FilterFormatError {
        FilterFormatError(message, at: position, of: text)
    }

    private mutating func next() throws(FilterFormatError) -> FormatToken {
        while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
        let start = position
        guard let scalar = peek() else { return FormatToken(kind: .end, position: start) }
        func token(_ kind: FormatToken.Kind) -> FormatToken { FormatToken(kind: kind, position: start) }
        let isRaw = rawValue.isOpen && scalar != "'" && scalar != "\""
        rawValue = (isNamed: false, isOpen: rawValue.isNamed && scalar == "(")
        if isRaw {
            while let scalar = peek(), scalar != ")", !scalar.properties.isWhitespace { position += 1 }
            return token(.string(string(from: start, to: position)))
        }
        switch scalar {
        case "'", "\"": return token(.string(try string(quote: scalar)))
        case "%": return token(try placeholder())
        case "$": return token(try dollar())
        case "@":
            position += 1
            let name = name()
            guard !name.isEmpty else {
                throw error(
                    "'@' must be followed by a function name, as in @count.", at: start)
            }
            return token(.function(name))
        case "#":
            position += 1
            let name = name()
            guard !name.isEmpty else { throw error("'#' must be followed by a property name.", at: start) }
            return token(.name(name, isEscaped: true))
        case "0"..."9": return token(.number(try number()))
        case ".":
            if let digit = peek(1), Self.isDigit(digit) { return token(.number(try number())) }
        case "-", "+":
            if let next = peek(1), Self.isDigit(next) || next == "." { return token(.number(try number())) }
            throw error("'\(scalar)' can only precede a number: predicates have no arithmetic.", at: start)
        default: break
        }
        if Self.isNameStart(scalar) {
            let name = name()
            rawValue.isNamed = Self.functionsOfText.contains(name.lowercased())
            return token(.name(name, isEscaped: false))
        }
        if let symbol = symbol() { return token(.symbol(symbol)) }
        throw error("'\(scalar)' isn't valid here.", at: start)
    }

    private static let functionsOfText: Set<String> = ["uuid", "oid", "objectid"]

    private mutating func symbol() -> FormatToken.Symbol? {
        guard let first = peek() else { return nil }
        let second = peek(1)
        if let second, let symbol = Self.pairs[String(first) + String(second)] {
            position += 2
            return symbol
        }
        if first == "=" {
            position += 1
            return .equal
        }
        guard let symbol = FormatToken.Symbol(rawValue: String(first)) else { return nil }
        position += 1
        return symbol
    }

    private static let pairs: [String: FormatToken.Symbol] = [
        "==": .equal, "!=": .notEqual, "<>": .notEqual, "<=": .lessOrEqual, "=<": .lessOrEqual,
        ">=": .greaterOrEqual, "=>": .greaterOrEqual, "&&": .and, "||": .or,
    ]

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isXIDStart || isSymbolOfNames(scalar)
    }

    /// Swift names may contain emoji and their joiners.
    private static func isSymbolOfNames(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII && (scalar.properties.isEmoji || scalar == "\u{200D}")
    }

    private mutating func name() -> String {
        guard let first = peek(), Self.isNameStart(first) else { return "" }
        let start = position
        while let scalar = peek(), Self.isNameStart(scalar) || scalar.properties.isXIDContinue { position += 1 }
        return string(from: start, to: position)
    }

    private func string(from start: Int, to end: Int) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: text[start..<end])
        return String(view)
    }

    /// Reads `12`, `-0.5`, `1e-3` or `0x1F`.
    private mutating func number() throws(FilterFormatError) -> String {
        let start = position
        if let sign = peek(), sign == "-" || sign == "+" { position += 1 }
        if peek() == "0", let x = peek(1), x == "x" || x == "X" {
            position += 2
            while let scalar = peek(), scalar.properties.isASCIIHexDigit { position += 1 }
        } else {
            while let scalar = peek(), Self.isDigit(scalar) { position += 1 }
            if peek() == "." {
                position += 1
                while let scalar = peek(), Self.isDigit(scalar) { position += 1 }
            }
            if let e = peek(), e == "e" || e == "E" {
                let signs = if let sign = peek(1), sign == "-" || sign == "+" { 1 } else { 0 }
                if let digit = peek(1 + signs), Self.isDigit(digit) {
                    position += 1 + signs
                    while let scalar = peek(), Self.isDigit(scalar) { position += 1 }
                }
            }
        }
        if let scalar = peek(), Self.isNameStart(scalar) {
            throw error("'\(scalar)' cannot follow a number directly.", at: position)
        }
        return string(from: start, to: position)
    }

    private mutating func string(quote: Unicode.Scalar) throws(FilterFormatError) -> String {
        let start = position
        position += 1
        var result = String.UnicodeScalarView()
        while let scalar = peek() {
            position += 1
            if scalar == quote { return String(result) }
            guard scalar == "\\" else {
                result.append(scalar)
                continue
            }
            guard let escaped = peek() else { break }
            position += 1
            switch escaped {
            case "n": result.append("\n")
            case "r": result.append("\r")
            case "t": result.append("\t")
            case "u":
                let digits = (0..<4).compactMap { peek($0)?.properties.isASCIIHexDigit == true ? peek($0) : nil }
                guard digits.count == 4, let code = UInt32(String(String.UnicodeScalarView(digits)), radix: 16),
                    let value = Unicode.Scalar(code)
                else {
                    throw error("'\\u' must be followed by a character's four hexadecimal digits.", at: position - 2)
                }
                position += 4
                result.append(value)
            // `\'`, `\"` and `\\`. As in NSPredicate, any other escaped character stands for itself.
            default: result.append(escaped)
            }
        }
        throw error("The string that begins here has no closing \(quote).", at: start)
    }

    private mutating func placeholder() throws(FilterFormatError) -> FormatToken.Kind {
        let start = position
        position += 1
        var lengths = ""
        while let scalar = peek(), "lhqz".unicodeScalars.contains(scalar), lengths.count < 2 {
            lengths.unicodeScalars.append(scalar)
            position += 1
        }
        guard let letter = peek() else { throw error("'%' must begin an argument, as in %@.", at: start) }
        position += 1
        switch letter {
        case "@" where lengths.isEmpty: return .argument
        case "K" where lengths.isEmpty: return .keyPath
        case "d", "i", "u", "D", "U", "f", "F", "g", "G", "e", "E", "x", "X", "o": return .argument
        default:
            throw error(
                "'%\(lengths)\(letter)' is not an argument: use %@, %d, %i, %ld or %f, or %K for key paths.", at: start)
        }
    }

    private mutating func dollar() throws(FilterFormatError) -> FormatToken.Kind {
        let start = position
        position += 1
        if let digit = peek(), Self.isDigit(digit) {
            let first = position
            while let scalar = peek(), Self.isDigit(scalar) { position += 1 }
            guard let number = Int(string(from: first, to: position)) else {
                throw error("There aren't that many arguments.", at: start)
            }
            return .numbered(number)
        }
        let name = name()
        guard !name.isEmpty else {
            throw error("'$' must begin an argument, as in $0, or a variable of a SUBQUERY.", at: start)
        }
        return .variable(name)
    }
}
