import TomboloModel

/// Any JSON value, with whole numbers distinguished from others.
enum JSONValue: Decodable, Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            var members: [String: JSONValue] = [:]
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
            }
            self = .object(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Int64.self) {
                self = .int(value)
            } else if let value = try? container.decode(Double.self) {
                self = .double(value)
            } else {
                self = .string(try container.decode(String.self))
            }
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// How many members of an object a summary shows.
    private static let shownMemberCount = 5

    /// A summary of the value for messages. Long texts are cut, and nested lists and objects are shown only by kind.
    var summary: String {
        guard case .object(let members) = self else { return shortSummary }
        guard !members.isEmpty else { return "an empty object" }
        var shown = members.sorted { $0.key < $1.key }.prefix(Self.shownMemberCount).map { key, value in
            "\(JSONValue.string(key).shortSummary): \(value.shortSummary)"
        }
        if members.count > shown.count { shown.append("…") }
        return "an object with \(shown.joined(separator: ", "))"
    }

    private var shortSummary: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "the number \(value)"
        case .double(let value): "the number \(value)"
        case .string(let value): "\"\(value.shortened(toByteCount: 60))\""
        case .array(let elements): "a list of \(elements.count)"
        case .object: "an object"
        }
    }
}
