import TomboloModel

/// Swift literals for simple column defaults.
enum ReverseDefault {
    /// The most bytes of a string that becomes a literal.
    static let maximumByteCount = 200

    /// Nil for a default that has no Swift literal, or that Swift supplies anyway: the current time, a random UUID.
    static func literal(_ column: SurveyedColumn, _ property: ModelProperty) -> String? {
        guard !property.isPrimaryKey, column.generation == .none, let expression = column.defaultExpression else {
            return nil
        }
        switch property.type {
        case .bool: return ["true", "false"].contains(expression) ? expression : nil
        case .int: return Int64(unquoted(expression)).map(String.init)
        case .double:
            guard let number = Double(unquoted(expression)), number.isFinite else { return nil }
            return "\(number)"
        case .string: return text(expression)
        default: return nil
        }
    }

    /// `'-1'::integer` → `-1`
    private static func unquoted(_ expression: String) -> String {
        guard expression.hasPrefix("'"), let end = expression.dropFirst().firstIndex(of: "'") else {
            let isBracketed = expression.hasPrefix("(") && expression.hasSuffix(")")
            return isBracketed ? String(expression.dropFirst().dropLast()) : expression
        }
        return String(expression[expression.index(after: expression.startIndex)..<end])
    }

    /// `'it''s'::text` → `"it's"`
    private static func text(_ expression: String) -> String? {
        guard expression.hasPrefix("'") else { return nil }
        var content = ""
        var rest = expression.dropFirst()
        while let character = rest.popFirst() {
            guard character == "'" else {
                content.append(character)
                continue
            }
            guard rest.first == "'" else { break }
            content.append("'")
            rest = rest.dropFirst()
        }
        guard rest.isEmpty || rest.hasPrefix("::"), !rest.contains("|"), content.utf8.count <= maximumByteCount,
            !content.contains("\\"), content.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { return nil }
        return "\"\(content.replacing("\"", with: "\\\""))\""
    }
}
