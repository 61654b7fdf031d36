/// A string predicate as written, before names and values are resolved.
indirect enum FormatSyntax {
    case constant(Bool)
    case and([FormatSyntax])
    case or([FormatSyntax])
    case not(FormatSyntax)
    case comparison(FormatComparison)
}

struct FormatComparison {
    enum Test {
        case compare(Predicate.Comparison)
        case text(Filter.TextTest)
        case isIn
        case between
    }

    let quantifier: Filter.Quantifier?
    let left: FormatOperand
    let test: Test
    let options: StringOptions
    let right: FormatOperand
    /// The position of the operator.
    let position: Int
}

/// One side of a comparison, as written.
indirect enum FormatOperand {
    case path(FormatPath)
    case literal(FormatLiteral, position: Int)
    /// `{1, 2}`, or an argument with several values.
    case list([FormatLiteral], position: Int)
    /// `SUBQUERY(dogs, $d, …).@count`
    case subquery(FormatPath, variable: String, FormatSyntax, position: Int)

    var position: Int {
        switch self {
        case .path(let path): path.position
        case .literal(_, let position), .list(_, let position), .subquery(_, _, _, let position): position
        }
    }
}

struct FormatPath {
    /// The variable before the names: `$d`. For `SELF` it's nil and ``startsWithSelf`` is true.
    var variable: String?
    var startsWithSelf = false
    var names: [String] = []
    /// A function such as `@count`, without the `@`, and the names after it.
    var function: String?
    var functionPosition = 0
    var namesAfterFunction: [String] = []
    let position: Int
}

/// A value as written or passed.
enum FormatLiteral {
    case null
    case bool(Bool)
    /// A number and its text, which decimal properties use.
    case number(Value, text: String)
    case value(Value)
    case object(ObjectBase)

    /// The literal as messages show it.
    var text: String {
        switch self {
        case .null: "nil"
        case .bool(let value): "\(value) of type bool"
        case .number(let value, _), .value(let value): value.typedText
        case .object(let object): "a \(object.className)"
        }
    }
}
