/// A part of a random rule or of random user data, which is rendered as JSON.
enum RuleJSON {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([RuleJSON])
    case object([Entry])

    struct Entry {
        let key: String
        let value: RuleJSON
    }

    static func object(_ entries: [(String, RuleJSON)]) -> RuleJSON {
        .object(entries.map { Entry(key: $0.0, value: $0.1) })
    }

    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): Self.quoted(value)
        case .array(let values): "[\(values.map(\.text).joined(separator: ", "))]"
        case .object(let entries):
            "{\(entries.map { "\(Self.quoted($0.key)): \($0.value.text)" }.joined(separator: ", "))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        let parts = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case _ where scalar.value < 0x20:
                "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"\(parts.joined())\""
    }
}
