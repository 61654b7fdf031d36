/// Selects a language's form for a number of things, from the header `Plural-Forms` of gettext's files, such as
/// `nplurals=2; plural=(n != 1);`. The expression is C.
struct PluralRule: Sendable {
    /// The number of forms in the language.
    let count: Int
    private let expression: Expression

    /// The rule of English, German and Spanish.
    static let germanic = PluralRule(count: 2, expression: .binary("!=", .number, .constant(1)))

    private init(count: Int, expression: Expression) {
        self.count = count
        self.expression = expression
    }

    struct Failure: Error { let reason: String }

    /// More forms than any language has.
    private static let maximumForms = 10
    private static let maximumByteCount = 1_000

    init(_ text: String) throws(Failure) {
        guard text.utf8.count <= Self.maximumByteCount else { throw Failure(reason: "it's too long.") }
        var fields: [Substring: Substring] = [:]
        for part in text.split(separator: ";") {
            guard let equals = part.firstIndex(of: "=") else { continue }
            fields[part[..<equals].trimming] = part[part.index(after: equals)...].trimming
        }
        guard let number = fields["nplurals"], let count = Int(number), (1...Self.maximumForms).contains(count) else {
            throw Failure(reason: "'nplurals' isn't a number from 1 to \(Self.maximumForms).")
        }
        guard let source = fields["plural"] else { throw Failure(reason: "'plural' is missing.") }
        var parser = try Parser(source)
        expression = try parser.whole()
        self.count = count
    }

    /// The index of the form for a number of things, from 0.
    func form(of count: Int) -> Int {
        min(max(expression.value(for: Int(clamping: count.magnitude)), 0), self.count - 1)
    }

    private indirect enum Expression: Sendable {
        case number
        case constant(Int)
        case not(Expression)
        case binary(String, Expression, Expression)
        case choice(Expression, Expression, Expression)

        func value(for n: Int) -> Int {
            switch self {
            case .number: n
            case .constant(let value): value
            case .not(let inner): inner.value(for: n) == 0 ? 1 : 0
            case .choice(let test, let yes, let no): (test.value(for: n) != 0 ? yes : no).value(for: n)
            case .binary(let sign, let left, let right): Self.value(sign, left.value(for: n), right.value(for: n))
            }
        }

        private static func value(_ sign: String, _ left: Int, _ right: Int) -> Int {
            switch sign {
            case "%": right == 0 ? 0 : left % right
            case "==": left == right ? 1 : 0
            case "!=": left != right ? 1 : 0
            case "<": left < right ? 1 : 0
            case "<=": left <= right ? 1 : 0
            case ">": left > right ? 1 : 0
            case ">=": left >= right ? 1 : 0
            case "&&": left != 0 && right != 0 ? 1 : 0
            default: left != 0 || right != 0 ? 1 : 0
            }
        }
    }

    /// A recursive-descent parser, from the operators that bind least to those that bind most.
    private struct Parser {
        private static let levels: [[String]] = [["||"], ["&&"], ["==", "!="], ["<=", ">=", "<", ">"], ["%"]]
        private static let signs = ["||", "&&", "==", "!=", "<=", ">=", "<", ">", "%", "!", "?", ":", "(", ")"]
        /// The maximum nesting of parentheses and conditional expressions.
        private static let maximumDepth = 50

        private var tokens: [String] = []
        private var depth = 0

        init(_ source: Substring) throws(Failure) {
            var rest = source
            while let first = rest.first {
                if first.isWhitespace {
                    rest.removeFirst()
                } else if let sign = Self.signs.first(where: { rest.hasPrefix($0) }) {
                    tokens.append(sign)
                    rest.removeFirst(sign.count)
                } else if first == "n" {
                    tokens.append("n")
                    rest.removeFirst()
                } else {
                    let digits = rest.prefix { $0.isASCII && $0.isNumber }
                    guard Int(digits) != nil else { throw Failure(reason: "'\(first)' isn't part of an expression.") }
                    tokens.append(String(digits))
                    rest = rest.dropFirst(digits.count)
                }
            }
            tokens.reverse()
        }

        mutating func whole() throws(Failure) -> Expression {
            let found = try choice()
            if let token = tokens.last { throw Failure(reason: "'\(token)' follows its end.") }
            return found
        }

        private mutating func choice() throws(Failure) -> Expression {
            depth += 1
            defer { depth -= 1 }
            guard depth <= Self.maximumDepth else { throw Failure(reason: "it's nested too deeply.") }
            let test = try binary(0)
            guard take("?") else { return test }
            let yes = try choice()
            guard take(":") else { throw Failure(reason: "a '?' has no ':'.") }
            return .choice(test, yes, try choice())
        }

        private mutating func binary(_ level: Int) throws(Failure) -> Expression {
            guard level < Self.levels.count else { return try unary() }
            var left = try binary(level + 1)
            while let sign = tokens.last, Self.levels[level].contains(sign) {
                tokens.removeLast()
                left = .binary(sign, left, try binary(level + 1))
            }
            return left
        }

        private mutating func unary() throws(Failure) -> Expression {
            depth += 1
            defer { depth -= 1 }
            guard depth <= Self.maximumDepth else { throw Failure(reason: "it's nested too deeply.") }
            if take("!") { return .not(try unary()) }
            if take("(") {
                let inner = try choice()
                guard take(")") else { throw Failure(reason: "a '(' has no ')'.") }
                return inner
            }
            guard let token = tokens.popLast() else { throw Failure(reason: "the expression breaks off.") }
            if token == "n" { return .number }
            guard let value = Int(token) else { throw Failure(reason: "'\(token)' isn't a number.") }
            return .constant(value)
        }

        private mutating func take(_ sign: String) -> Bool {
            guard tokens.last == sign else { return false }
            tokens.removeLast()
            return true
        }
    }
}

extension Substring {
    /// The text without surrounding white space.
    var trimming: Substring {
        let space: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
        guard let first = utf8.firstIndex(where: { !space($0) }), let last = utf8.lastIndex(where: { !space($0) })
        else { return self[endIndex...] }
        return self[first...last]
    }
}
