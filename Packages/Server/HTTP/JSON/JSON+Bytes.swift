extension JSON {
    /// Appends the value. Members are ordered by name.
    public func append(to json: inout JSONBytes) {
        switch self {
        case .null: json.append(null: ())
        case .bool(let value): json.append(value)
        case .int(let value): json.append(value)
        case .double(let value): json.append(value)
        case .string(let value): json.append(string: value)
        case .array(let values):
            json.append("[")
            for (index, value) in values.enumerated() {
                if index > 0 { json.append(",") }
                value.append(to: &json)
            }
            json.append("]")
        case .object(let members):
            json.append("{")
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { json.append(",") }
                json.append(string: member.key)
                json.append(":")
                member.value.append(to: &json)
            }
            json.append("}")
        }
    }
}
