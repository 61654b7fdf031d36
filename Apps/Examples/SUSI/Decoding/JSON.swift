/// A JSON value as it was received: members keep their order, and numbers their digits.
///
/// Foundation's parsers aren't suited for an answer that may be hostile: a single number beyond `Double` makes them
/// refuse the whole document, and anything that a program doesn't understand can't be preserved unchanged.
enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    /// The digits as received, because they may be beyond every number type.
    case number(String)
    /// U+0000 is replaced by U+FFFD, because the store can't hold it.
    case string(String)
    case array([JSON])
    case object([Member])
    /// The text of a value that is nested deeper than ``JSONParser/maximumDepth``.
    case tooDeep(String)

    struct Member: Equatable, Sendable {
        var name: String
        var value: JSON
    }
}

extension JSON {
    /// A member of an object; the last one, if several have the same name. Nil for null, and if the value isn't an
    /// object.
    subscript(name: String) -> JSON? {
        guard case .object(let members) = self, let member = members.last(where: { $0.name == name }),
            member.value != .null
        else { return nil }
        return member.value
    }

    /// The elements of an array. An object counts as an array with one element, because some servers leave out the
    /// brackets.
    var items: [JSON] {
        switch self {
        case .array(let items): items
        case .object: [self]
        default: []
        }
    }

    var isObject: Bool { if case .object = self { true } else { false } }

    /// The value as text. Numbers and Booleans are as they were written.
    var string: String? {
        switch self {
        case .string(let text): text
        case .number(let digits): digits
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object, .tooDeep: nil
        }
    }

    /// A finite number, including one that was sent as text.
    var double: Double? {
        let digits: String
        switch self {
        case .number(let text): digits = text
        case .string(let text): digits = text.filter { !$0.isWhitespace }
        default: return nil
        }
        // `Double` would also accept "nan", "inf" and hexadecimal digits.
        guard digits.utf8.allSatisfy({ JSONParser.isNumberByte($0) }), let number = Double(digits), number.isFinite
        else { return nil }
        return number
    }

    /// A whole number, including one that was sent as text or as `3.0`. Numbers beyond `Int` are clamped to it.
    var integer: Int? {
        guard let double, double == double.rounded() else { return nil }
        return Int(exactly: double) ?? (double < 0 ? .min : .max)
    }
}
