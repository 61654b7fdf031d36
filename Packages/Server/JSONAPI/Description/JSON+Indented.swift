package import TomboloHTTP

extension JSON {
    /// The longest line, in bytes, before a list or an object is split into several.
    private static let lineByteCount = 76
    /// Members that come before the others.
    private static let firstNames = ["data", "type", "id", "attributes"]

    /// JSON for people: values that fit are written on one line, others on several.
    package func indented(depth: Int = 0) -> String {
        let line = line
        guard line.utf8.count + 2 * depth > Self.lineByteCount else { return line }
        let (outer, inner) = (String(repeating: "  ", count: depth), String(repeating: "  ", count: depth + 1))
        let parts: [String]
        switch self {
        case .object(let members):
            parts = Self.ordered(members).map { "\(JSON.string($0).line): \($1.indented(depth: depth + 1))" }
        case .array(let values): parts = values.map { $0.indented(depth: depth + 1) }
        case .null, .bool, .int, .double, .string: return line
        }
        guard let first = line.first, let last = line.last else { return line }
        return "\(first)\n\(inner)\(parts.joined(separator: ",\n\(inner)"))\n\(outer)\(last)"
    }

    private var line: String {
        switch self {
        case .object(let members):
            return "{\(Self.ordered(members).map { "\(JSON.string($0).line): \($1.line)" }.joined(separator: ", "))}"
        case .array(let values): return "[\(values.map(\.line).joined(separator: ", "))]"
        case .null, .bool, .int, .double, .string:
            var bytes = JSONBytes()
            append(to: &bytes)
            return String(decoding: bytes.bytes, as: UTF8.self)
        }
    }

    private static func ordered(_ members: [String: JSON]) -> [(key: String, value: JSON)] {
        func place(_ name: String) -> Int { firstNames.firstIndex(of: name) ?? firstNames.count }
        return members.sorted { (place($0.key), $0.key) < (place($1.key), $1.key) }
    }
}
