/// A JSON value as it was sent: members keep their order, numbers their digits.
///
/// Foundation's parsers do not fit an answer that may be hostile: one number beyond `Double` refuses the whole document,
/// and what a program does not understand cannot be kept as it came.
enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    /// The digits as sent: they may be beyond every number type.
    case number(String)
    /// Without U+0000, which the store has no room for: U+FFFD stands there instead.
    case string(String)
    case array([JSON])
    case object([Member])
    /// Nested deeper than ``JSONParser/maximumDepth``: the text of it.
    case tooDeep(String)

    struct Member: Equatable, Sendable {
        var name: String
        var value: JSON
    }
}

extension JSON {
    /// A member of an object; of several with one name the last. Nil for null, and for what is no object.
    subscript(name: String) -> JSON? {
        guard case .object(let members) = self, let member = members.last(where: { $0.name == name }),
            member.value != .null
        else { return nil }
        return member.value
    }

    /// The elements of an array; an object is taken for an array of one, which some servers leave the brackets out of.
    var items: [JSON] {
        switch self {
        case .array(let items): items
        case .object: [self]
        default: []
        }
    }

    var isObject: Bool { if case .object = self { true } else { false } }

    /// Text; numbers and truth values as they were written.
    var string: String? {
        switch self {
        case .string(let text): text
        case .number(let digits): digits
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object, .tooDeep: nil
        }
    }

    /// A finite number, also one that was sent as text.
    var double: Double? {
        let digits: String
        switch self {
        case .number(let text): digits = text
        case .string(let text): digits = text.filter { !$0.isWhitespace }
        default: return nil
        }
        // `Double` would also take "nan", "inf" and hexadecimal digits.
        guard digits.utf8.allSatisfy({ JSONParser.isNumberByte($0) }), let number = Double(digits), number.isFinite
        else { return nil }
        return number
    }

    /// A whole number, also one that was sent as text or as `3.0`; those beyond `Int` are clamped to it.
    var integer: Int? {
        guard let double, double == double.rounded() else { return nil }
        return Int(exactly: double) ?? (double < 0 ? .min : .max)
    }
}
