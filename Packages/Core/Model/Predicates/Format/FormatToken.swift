/// A piece of a string predicate.
struct FormatToken {
    enum Kind: Hashable {
        /// A name or keyword. An escaped one (`#in`) is always a name.
        case name(String, isEscaped: Bool)
        /// A number as written.
        case number(String)
        case string(String)
        /// The next argument: `%@`, `%d`, `%ld`, `%f` …
        case argument
        /// The next argument, used as a key path: `%K`.
        case keyPath
        /// A numbered argument: `$0`.
        case numbered(Int)
        /// A subquery's variable: `$dog`.
        case variable(String)
        /// `@count`, `@max` …
        case function(String)
        case symbol(Symbol)
        case end
    }

    enum Symbol: String, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case lessOrEqual = "<="
        case greaterOrEqual = ">="
        case less = "<"
        case greater = ">"
        case and = "&&"
        case or = "||"
        case not = "!"
        case openParenthesis = "("
        case closeParenthesis = ")"
        case openBrace = "{"
        case closeBrace = "}"
        case openBracket = "["
        case closeBracket = "]"
        case comma = ","
        case dot = "."
    }

    let kind: Kind
    /// The position in Unicode scalars from the start of the text.
    let position: Int

    /// The token as messages show it.
    var text: String {
        switch kind {
        case .name(let name, _): "'\(name)'"
        case .number(let text): "the number \(text)"
        case .string: "a string"
        case .argument: "an argument"
        case .keyPath: "%K"
        case .numbered(let number): "$\(number)"
        case .variable(let name): "$\(name)"
        case .function(let name): "@\(name)"
        case .symbol(let symbol): "'\(symbol.rawValue)'"
        case .end: "the end"
        }
    }

    var word: FormatWord? {
        if case .name(let name, false) = kind { FormatWord(rawValue: name.lowercased()) } else { nil }
    }
}
