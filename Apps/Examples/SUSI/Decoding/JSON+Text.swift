extension JSON {
    /// The value as JSON on one line, with the same order, the same digits, and no spaces.
    var text: String {
        var result = ""
        write(to: &result)
        return result
    }

    // Recursion is no deeper than in the parser.
    private func write(to result: inout String) {
        switch self {
        case .null: result += "null"
        case .bool(let flag): result += flag ? "true" : "false"
        case .number(let digits): result += digits
        case .string(let text): Self.write(text, to: &result)
        case .tooDeep(let text): result += text
        case .array(let items):
            result += "["
            for (index, item) in items.enumerated() {
                if index > 0 { result += "," }
                item.write(to: &result)
            }
            result += "]"
        case .object(let members):
            result += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { result += "," }
                Self.write(member.name, to: &result)
                result += ":"
                member.value.write(to: &result)
            }
            result += "}"
        }
    }

    /// RFC 8259, section 7.
    private static func write(_ text: String, to result: inout String) {
        result += "\""
        if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"": result += "\\\""
                case "\\": result += "\\\\"
                case "\n": result += "\\n"
                case "\r": result += "\\r"
                case "\t": result += "\\t"
                case _ where scalar.value < 0x20:
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                default: result.unicodeScalars.append(scalar)
                }
            }
        } else {
            result += text
        }
        result += "\""
    }
}
