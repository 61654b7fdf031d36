extension Filter: CustomStringConvertible {
    /// A readable form in the notation of Realm's string predicates, for messages. To parse a condition again, use
    /// ``format()``.
    public var description: String {
        var printer = FilterPrinter { $0.description }
        return printer.text(of: self)
    }

    /// A text and arguments that parse back to this condition, except that conditions on the same list may be tested in
    /// a different order.
    public func format() -> (format: String, arguments: [Value]) {
        var arguments: [Value] = []
        var printer = FilterPrinter { value in
            arguments.append(value)
            return "%@"
        }
        let text = printer.text(of: self)
        return (text, arguments)
    }
}

extension FilterOperand: CustomStringConvertible {
    public var description: String {
        var printer = FilterPrinter { $0.description }
        return printer.text(of: self)
    }
}

/// Writes conditions like Realm's `Query._constructPredicate`: with parentheses around every comparison and every pair.
struct FilterPrinter {
    private let literal: (Value) -> String
    /// The variables of the enclosing subqueries, and nil for quantifiers without one.
    private var variables: [String?] = []
    private var variableCount = 0

    init(literal: @escaping (Value) -> String) { self.literal = literal }

    mutating func text(of filter: Filter) -> String {
        switch filter {
        case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let parts): return join(parts, "&&", empty: "TRUEPREDICATE")
        case .or(let parts): return join(parts, "||", empty: "FALSEPREDICATE")
        case .not(let inner): return "NOT \(parenthesized(inner))"
        case .quantified(let quantifier, let path, let inner):
            if inner.isSimpleOnElement {
                return "(\(quantifier.rawValue) \(body(of: inner, prefix: path)))"
            }
            let (condition, comparison): (Filter, String) =
                switch quantifier {
                case .any: (inner, "> 0")
                case .none: (inner, "== 0")
                case .all: (.not(inner), "== 0")
                }
            return "(\(text(of: .count(path, condition))) \(comparison))"
        case .compare, .between, .isIn, .text: return "(\(body(of: filter, prefix: nil)))"
        }
    }

    private mutating func parenthesized(_ filter: Filter) -> String {
        let text = text(of: filter)
        return text.hasPrefix("(") ? text : "(\(text))"
    }

    private mutating func join(_ parts: [Filter], _ separator: String, empty: String) -> String {
        guard let first = parts.first else { return empty }
        guard parts.count > 1 else { return text(of: first) }
        // `a && b && c` becomes `((a && b) && c)`, as Swift evaluates it.
        var result = String(repeating: "(", count: parts.count - 1) + text(of: first)
        for part in parts.dropFirst() { result += " \(separator) \(text(of: part)))" }
        return result
    }

    /// A comparison without its parentheses.
    /// - Parameter prefix: the list whose elements it tests, or nil. With a list, operands of the enclosing object are
    ///   `.outer`.
    private mutating func body(of filter: Filter, prefix: PropertyPath?) -> String {
        if prefix != nil { variables.append(nil) }
        defer { if prefix != nil { variables.removeLast() } }
        switch filter {
        case .compare(let left, let comparison, let right, let options):
            return "\(text(of: left, prefix)) \(comparison.rawValue)\(options.text) \(text(of: right, prefix))"
        case .between(let operand, let low, let high):
            return "\(text(of: operand, prefix)) BETWEEN {\(text(of: low, prefix)), \(text(of: high, prefix))}"
        case .isIn(let operand, let literals, let options):
            let list = literals.map { literal($0) }.joined(separator: ", ")
            return "\(text(of: operand, prefix)) IN\(options.text) {\(list)}"
        case .text(let left, let test, let right, let options):
            return "\(text(of: left, prefix)) \(test.rawValue)\(options.text) \(text(of: right, prefix))"
        case .constant, .quantified, .and, .or, .not: return text(of: filter)
        }
    }

    mutating func text(of operand: FilterOperand) -> String { text(of: operand, nil) }

    private mutating func text(of operand: FilterOperand, _ prefix: PropertyPath?) -> String {
        let start = prefix.map { "\($0.formatText)." } ?? (variables.last ?? nil).map { "$\($0)." } ?? ""
        switch operand {
        case .literal(let value): return literal(value)
        case .property(let path): return start + path.formatText
        case .element: return start.isEmpty ? "SELF" : String(start.dropLast())
        case .length(let path): return "\(start)\(path.formatText).@size"
        case .aggregate(let aggregate, let path, .property(let inner)):
            return "\(start)\(path.formatText).@\(aggregate.rawValue).\(inner.formatText)"
        case .aggregate(let aggregate, let path, _): return "\(start)\(path.formatText).@\(aggregate.rawValue)"
        case .count(let path, .constant(true)): return "\(start)\(path.formatText).@count"
        case .count(let path, let condition):
            variableCount += 1
            let variable = "col\(variableCount)"
            variables.append(variable)
            defer { variables.removeLast() }
            return "SUBQUERY(\(start)\(path.formatText), $\(variable), \(text(of: condition))).@count"
        case .outer(let inner):
            let last = variables.popLast()
            defer { if let last { variables.append(last) } }
            return text(of: inner, nil)
        }
    }
}

extension Filter {
    /// Whether the condition is a single comparison that can be written `ANY list.property == value`: its left side is
    /// the element or one of its properties, and its right side doesn't refer to the element.
    fileprivate var isSimpleOnElement: Bool {
        switch self {
        case .compare(let left, _, let right, _), .text(let left, _, let right, _):
            left.isSimple && !right.isAboutElement
        case .between(let operand, let low, let high):
            operand.isSimple && !low.isAboutElement && !high.isAboutElement
        case .isIn(let operand, _, _): operand.isSimple
        case .constant, .quantified, .and, .or, .not: false
        }
    }
}

extension FilterOperand {
    fileprivate var isSimple: Bool {
        switch self {
        case .property, .element: true
        case .literal, .count, .aggregate, .length, .outer: false
        }
    }

    fileprivate var isAboutElement: Bool {
        switch self {
        case .literal, .outer: false
        case .property, .element, .count, .aggregate, .length: true
        }
    }
}

extension StringOptions {
    /// The options as `[cd]`, or an empty string.
    var text: String {
        let letters = (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}

extension PropertyPath {
    /// The path with `#` before each name that is a keyword.
    var formatText: String {
        names.map { FormatWord(rawValue: $0.lowercased()) == nil ? $0 : "#\($0)" }.joined(separator: ".")
    }
}
