internal import Foundation

/// Parses a string predicate: `name BEGINSWITH[c] %@ AND (ANY dogs.age > 3 OR NOT owner == nil)`.
///
/// The grammar is Realm's subset of `NSPredicate`'s.
struct FormatParser {
    /// The maximum nesting of parentheses, NOT and SUBQUERY, and the maximum number of comparisons and literals. Values
    /// passed as arguments don't count.
    static let maximumDepth = Predicate.maximumDepth
    static let maximumPartCount = Predicate.maximumPartCount

    private let text: [Unicode.Scalar]
    private let tokens: [FormatToken]
    private let arguments: [Any?]
    private var index = 0
    private var nextArgument = 0
    private var usesNumbers = false
    private var greatestNumber = -1
    private var depth = 0
    private var partCount = 0
    /// The index of the closing parenthesis for each opening one.
    private var closing: [Int: Int] = [:]

    private init(_ text: [Unicode.Scalar], _ arguments: [Any?]) throws(FilterFormatError) {
        self.text = text
        self.arguments = arguments
        tokens = try FormatLexer.tokens(of: text)
        var open: [Int] = []
        for (index, token) in tokens.enumerated() {
            if token.kind == .symbol(.openParenthesis) { open.append(index) }
            if token.kind == .symbol(.closeParenthesis), let start = open.popLast() { closing[start] = index }
        }
    }

    static func parse(_ text: [Unicode.Scalar], _ arguments: [Any?]) throws(FilterFormatError) -> FormatSyntax {
        var parser = try FormatParser(text, arguments)
        guard parser.token.kind != .end else { throw parser.error("The predicate is empty.") }
        let result = try parser.disjunction()
        guard parser.token.kind == .end else {
            if ["sort", "distinct", "limit"].contains(parser.lowercasedName) {
                throw parser.error("Predicates do not sort or limit: use sorted(byKeyPath:), distinct(by:) or prefix.")
            }
            throw parser.error("Expected AND, OR or the end, not \(parser.token.text).")
        }
        let used = parser.usesNumbers ? parser.greatestNumber + 1 : parser.nextArgument
        guard arguments.count <= used else {
            throw FilterFormatError(
                "\(arguments.count) \(arguments.count == 1 ? "argument was" : "arguments were") given, but the predicate "
                    + "takes \(used).", at: text.count, of: text)
        }
        return result
    }

    // MARK: Tokens

    private var token: FormatToken { tokens[index] }

    private var lowercasedName: String { if case .name(let name, false) = token.kind { name.lowercased() } else { "" } }

    private func error(_ message: String, at position: Int? = nil) -> FilterFormatError {
        FilterFormatError(message, at: position ?? token.position, of: text)
    }

    private mutating func take(_ symbol: FormatToken.Symbol) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        index += 1
        return true
    }

    private mutating func takeWord(_ word: FormatWord) -> Bool {
        guard token.word == word else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ symbol: FormatToken.Symbol, _ what: String) throws(FilterFormatError) {
        guard take(symbol) else { throw error("Expected '\(symbol.rawValue)' \(what), not \(token.text).") }
    }

    private mutating func nested<Result>(
        _ body: (inout FormatParser) throws(FilterFormatError) -> Result
    ) throws(FilterFormatError) -> Result {
        depth += 1
        guard depth <= Self.maximumDepth else {
            throw error("The predicate is nested too deeply: the limit is \(Self.maximumDepth) levels.")
        }
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func count() throws(FilterFormatError) {
        partCount += 1
        guard partCount <= Self.maximumPartCount else {
            throw error(
                "The predicate has more than \(Self.maximumPartCount) comparisons and values: pass lists as arguments, "
                    + "IN %@.")
        }
    }

    // MARK: Logic

    private mutating func disjunction() throws(FilterFormatError) -> FormatSyntax {
        var parts = [try conjunction()]
        while take(.or) || takeWord(.or) { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(FilterFormatError) -> FormatSyntax {
        var parts = [try negation()]
        while take(.and) || takeWord(.and) { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(FilterFormatError) -> FormatSyntax {
        guard take(.not) || takeWord(.not) else { return try primary() }
        return .not(try nested { (parser) throws(FilterFormatError) in try parser.negation() })
    }

    private mutating func primary() throws(FilterFormatError) -> FormatSyntax {
        if takeWord(.truePredicate) { return .constant(true) }
        if takeWord(.falsePredicate) { return .constant(false) }
        if token.kind == .symbol(.openParenthesis), !opensOperand {
            index += 1
            let inner = try nested { (parser) throws(FilterFormatError) in try parser.disjunction() }
            try expect(.closeParenthesis, "here")
            return inner
        }
        return .comparison(try comparison())
    }

    /// Whether the parenthesis here encloses an operand, which means that an operator follows it.
    private var opensOperand: Bool {
        guard let end = closing[index] else { return false }
        switch tokens[end + 1].kind {
        case .symbol(.equal), .symbol(.notEqual), .symbol(.less), .symbol(.lessOrEqual), .symbol(.greater),
            .symbol(.greaterOrEqual):
            return true
        default:
            switch tokens[end + 1].word {
            case .in, .between, .contains, .beginsWith, .endsWith, .like, .matches: return true
            default: return false
            }
        }
    }

    // MARK: Comparisons

    private mutating func comparison() throws(FilterFormatError) -> FormatComparison {
        try count()
        var quantifier: Filter.Quantifier?
        switch token.word {
        case .any, .someOf: quantifier = .any
        case .all: quantifier = .all
        case .noneOf: quantifier = Filter.Quantifier.none
        default: break
        }
        if quantifier != nil { index += 1 }
        let left = try operand()
        let position = token.position
        let test = try self.test(after: left)
        let options = try self.options()
        let right = try operand()
        return FormatComparison(
            quantifier: quantifier, left: left, test: test, options: options, right: right, position: position)
    }

    private mutating func test(after left: FormatOperand) throws(FilterFormatError) -> FormatComparison.Test {
        let test: FormatComparison.Test? =
            switch token.kind {
            case .symbol(.equal): .compare(.equal)
            case .symbol(.notEqual): .compare(.notEqual)
            case .symbol(.less): .compare(.less)
            case .symbol(.lessOrEqual): .compare(.lessOrEqual)
            case .symbol(.greater): .compare(.greater)
            case .symbol(.greaterOrEqual): .compare(.greaterOrEqual)
            default:
                switch token.word {
                case .in: .isIn
                case .between: .between
                case .contains: .text(.contains)
                case .beginsWith: .text(.beginsWith)
                case .endsWith: .text(.endsWith)
                case .like: .text(.like)
                case .matches:
                    throw error("MATCHES is not supported: use LIKE, with * for any text and ? for one character.")
                default: nil
                }
            }
        guard let test else {
            throw error(
                "Expected an operator after the left side (==, !=, <, <=, >, >=, IN, BETWEEN, CONTAINS, BEGINSWITH, "
                    + "ENDSWITH or LIKE), not \(token.text).")
        }
        index += 1
        return test
    }

    /// Parses `[cd]`.
    private mutating func options() throws(FilterFormatError) -> StringOptions {
        guard take(.openBracket) else { return [] }
        guard case .name(let letters, _) = token.kind else {
            throw error("Expected [c], [d] or [cd].")
        }
        var options: StringOptions = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            default: throw error("'\(letter)' is not an option: c ignores case, d ignores accents.")
            }
        }
        index += 1
        try expect(.closeBracket, "after the options")
        return options
    }

    // MARK: Operands

    private mutating func operand() throws(FilterFormatError) -> FormatOperand {
        let start = token.position
        switch token.kind {
        case .symbol(.openParenthesis):
            index += 1
            let inner = try nested { (parser) throws(FilterFormatError) in try parser.operand() }
            try expect(.closeParenthesis, "here")
            return inner
        case .symbol(.openBrace):
            index += 1
            return .list(try list(), position: start)
        case .number, .string:
            return .literal(try literal(), position: start)
        case .argument, .numbered:
            switch try argument() {
            case .one(let literal): return .literal(literal, position: start)
            case .many(let literals): return .list(literals, position: start)
            }
        case .keyPath, .variable, .name(_, isEscaped: true): return .path(try path())
        case .name(let name, isEscaped: false):
            switch token.word {
            case nil:
                if tokens[index + 1].kind == .symbol(.openParenthesis) { return try function(name) }
                return .path(try path())
            case .self: return .path(try path())
            case .true, .false, .yes, .no, .null, .nil: return .literal(try literal(), position: start)
            case .subquery: return try subquery()
            default:
                throw error(
                    "Expected a property or a value, not the word \(name). Write #\(name) for a property of that name."
                )
            }
        case .function("links"): return .path(try path())
        case .function(let name):
            throw error("Put @\(name) after the name of a list: 'dogs.@\(name)'.")
        case .symbol, .end: throw error("Expected a property or a value, not \(token.text).")
        }
    }

    /// Parses a list after its opening brace.
    private mutating func list() throws(FilterFormatError) -> [FormatLiteral] {
        var literals: [FormatLiteral] = []
        if take(.closeBrace) { return literals }
        repeat {
            try count()
            switch token.kind {
            case .argument, .numbered:
                switch try argument() {
                case .one(let literal): literals.append(literal)
                case .many(let several): literals.append(contentsOf: several)
                }
            default: literals.append(try literal())
            }
        } while take(.comma)
        try expect(.closeBrace, "after the values of a list")
        return literals
    }

    private mutating func literal() throws(FilterFormatError) -> FormatLiteral {
        let literal: FormatLiteral
        switch token.kind {
        case .string(let text): literal = .value(.string(text))
        case .number(let text): literal = .number(try number(text), text: text)
        case .name(let name, false):
            switch token.word {
            case .true, .yes: literal = .bool(true)
            case .false, .no: literal = .bool(false)
            case .null, .nil: literal = .null
            default:
                if tokens[index + 1].kind == .symbol(.openParenthesis), case .literal(let value, _) = try function(name)
                {
                    return value
                }
                throw error("Expected a value, not \(token.text).")
            }
        default: throw error("Expected a value, not \(token.text).")
        }
        index += 1
        return literal
    }

    private func number(_ text: String) throws(FilterFormatError) -> Value {
        let digits = text.hasPrefix("+") ? String(text.dropFirst()) : text
        if let value = Int64(digits) { return .int(value) }
        let unsigned = digits.hasPrefix("-") ? digits.dropFirst() : digits[...]
        if unsigned.lowercased().hasPrefix("0x") {
            guard let value = Int64((digits.hasPrefix("-") ? "-" : "") + unsigned.dropFirst(2), radix: 16) else {
                throw error("\(text) is not a 64-bit hexadecimal number.")
            }
            return .int(value)
        }
        guard let value = Double(digits) ?? Double(digits + "0") else { throw error("\(text) is not a number.") }
        return .double(value)
    }

    /// Parses `uuid(…)` and `oid(…)`, as in the Realm Query Language.
    private mutating func function(_ name: String) throws(FilterFormatError) -> FormatOperand {
        let start = token.position
        guard ["uuid", "oid", "objectid"].contains(name.lowercased()) else {
            throw error(
                "'\(name)' is not a function. Available: uuid('…'), oid('…') and SUBQUERY. Compute other values first "
                    + "and pass them as arguments.", at: start)
        }
        index += 2
        guard case .string(let text) = token.kind else {
            throw error("Expected a value in quotes, not \(token.text).")
        }
        let value: Value
        switch name.lowercased() {
        case "uuid":
            guard let uuid = UUID(uuidString: text) else { throw error("'\(text)' is not a UUID.") }
            value = .uuid(uuid)
        default:
            guard let id = try? ObjectId(string: text) else {
                throw error("'\(text)' is not an ObjectId, which has 24 hexadecimal digits.")
            }
            value = .objectId(id)
        }
        index += 1
        try expect(.closeParenthesis, "after the value")
        return .literal(.value(value), position: start)
    }

    private mutating func argument() throws(FilterFormatError) -> FormatArgument {
        let number: Int
        if case .numbered(let given) = token.kind {
            usesNumbers = true
            number = given
        } else {
            number = nextArgument
            nextArgument += 1
        }
        greatestNumber = max(greatestNumber, number)
        guard !(usesNumbers && nextArgument > 0) else {
            throw error("Use either numbered arguments such as $0, or arguments in order such as %@, but not both.")
        }
        guard arguments.indices.contains(number) else {
            throw error("There is no value for \(token.text): the number of arguments passed is \(arguments.count).")
        }
        guard let value = FormatArgument(arguments[number]) else {
            let name = arguments[number].map { "\(type(of: $0))" } ?? "nil"
            throw error("Argument \(number + 1) is of type \(name), which can't be compared with any property.")
        }
        index += 1
        return value
    }

    // MARK: Paths

    private mutating func path() throws(FilterFormatError) -> FormatPath {
        var path = FormatPath(position: token.position)
        switch token.kind {
        case .variable(let name):
            path.variable = name
            index += 1
        case .name where token.word == .self:
            path.startsWithSelf = true
            index += 1
        default: try component(of: &path)
        }
        while take(.dot) { try component(of: &path) }
        if token.kind == .symbol(.openBracket) {
            throw error("List elements cannot be selected by position: use ANY, ALL or NONE.")
        }
        return path
    }

    private mutating func component(of path: inout FormatPath) throws(FilterFormatError) {
        switch token.kind {
        case .name(let name, _):
            // After a dot, keywords count as names.
            if path.function == nil { path.names.append(name) } else { path.namesAfterFunction.append(name) }
        case .keyPath:
            let position = token.position
            guard case .one(.value(.string(let text))) = try argument() else {
                throw error("The argument for %K must be a string with the name of a property.", at: position)
            }
            var inner = try FormatParser(Array(text.unicodeScalars), [])
            do throws(FilterFormatError) {
                while true {
                    try inner.component(of: &path)
                    if inner.token.kind == .end { break }
                    try inner.expect(.dot, "between the names of a path")
                }
            } catch {
                throw self.error(
                    "The argument for %K, '\(text.shortened(toByteCount: 100))', is not a property: \(error.message)",
                    at: position)
            }
            path.functionPosition = position
            return
        case .function("links") where path.function == nil: path.names.append(PropertyPath.links)
        case .function(let name):
            guard path.function == nil else {
                throw error("A path can have only one function, and this one already has @\(path.function ?? "").")
            }
            path.function = name
            path.functionPosition = token.position
        default: throw error("Expected the name of a property, not \(token.text).")
        }
        index += 1
    }

    private mutating func subquery() throws(FilterFormatError) -> FormatOperand {
        let start = token.position
        index += 1
        try expect(.openParenthesis, "after SUBQUERY")
        let collection = try path()
        try expect(.comma, "after the list of a SUBQUERY")
        guard case .variable(let variable) = token.kind else {
            throw error("Expected a variable such as $item after the list of a SUBQUERY, not \(token.text).")
        }
        index += 1
        try expect(.comma, "after the variable of a SUBQUERY")
        let condition = try nested { (parser) throws(FilterFormatError) in try parser.disjunction() }
        try expect(.closeParenthesis, "after the condition of a SUBQUERY")
        let isCount =
            tokens[index].kind == .symbol(.dot)
            && (tokens[index + 1].kind == .function("count")
                || tokens[index + 1].kind == .function("size"))
        guard isCount else { throw error("A SUBQUERY must be followed by .@count and a comparison with a number.") }
        index += 2
        return .subquery(collection, variable: variable, condition, position: start)
    }
}
