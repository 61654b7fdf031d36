extension ModelDocument {
    /// The document as JSON with one property per line, so that version control shows what changed. Equal classes give
    /// equal text. Ends with a newline.
    public var json: String {
        """
        {
          "format": \(Self.currentFormat),
          "app": \(Self.quoted(app)),
          "classes": \(Self.list(classes.map(Self.text(of:)), indentation: "  "))
        }

        """
    }

    /// Puts each element on a line of its own.
    private static func list(_ elements: [String], indentation: String) -> String {
        guard !elements.isEmpty else { return "[]" }
        let lines = elements.map { "\(indentation)  \($0)" }.joined(separator: ",\n")
        return "[\n\(lines)\n\(indentation)]"
    }

    private static func text(of item: ModelClass) -> String {
        var members = ["\"name\": \(quoted(item.name))"]
        members.append(item.table.map { "\"table\": \(quoted($0))" } ?? "\"embedded\": true")
        if item.isTrashable { members.append("\"trashable\": true") }
        if !item.uniqueProperties.isEmpty {
            members.append("\"unique\": [\(item.uniqueProperties.map(names).joined(separator: ", "))]")
        }
        if !item.previousNames.isEmpty { members.append("\"previousNames\": \(names(item.previousNames))") }
        if item.isRetired { members.append("\"retired\": true") }
        members.append("\"properties\": \(list(item.properties.map(text(of:)), indentation: "      "))")
        return "{\n      \(members.joined(separator: ",\n      "))\n    }"
    }

    private static func text(of property: ModelProperty) -> String {
        var members = ["\"name\": \(quoted(property.name))"]
        if property.column != Column.sqlName(for: property.name) {
            members.append("\"column\": \(quoted(property.column))")
        }
        members.append("\"type\": \(quoted(property.typeText))")
        if property.isPrimaryKey { members.append("\"primaryKey\": true") }
        if property.isIndexed { members.append("\"indexed\": true") }
        if property.isEncrypted { members.append("\"encrypted\": true") }
        if let allowed = property.allowedValues { members.append("\"values\": [\(values(allowed))]") }
        if let hint = property.hint { members.append("\"hint\": \(escaped(hint))") }
        if property.isMarkdown { members.append("\"markdown\": true") }
        if let coordinate = property.coordinate { members.append("\"place\": \"\(coordinate.rawValue)\"") }
        if property.deleteRule == .cascade { members.append("\"onDelete\": \"cascade\"") }
        if !property.previousNames.isEmpty { members.append("\"previousNames\": \(names(property.previousNames))") }
        if property.isRetired { members.append("\"retired\": true") }
        return "{\(members.joined(separator: ", "))}"
    }

    private static func names(_ names: [String]) -> String { "[\(names.map(quoted).joined(separator: ", "))]" }

    private static func values(_ allowed: AllowedValues) -> String {
        allowed.values.map { value in
            if case .string(let text) = value { escaped(text) } else { value.description }
        }.joined(separator: ", ")
    }

    /// Escapes a string as RFC 8259, section 7 requires.
    private static func escaped(_ text: String) -> String {
        let characters = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\"", "\\": return "\\\(scalar)"
            case "\u{0}"..."\u{1f}":
                let digits = String(scalar.value, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: return String(scalar)
            }
        }
        return "\"\(characters.joined())\""
    }

    /// Quotes a name without escaping: names contain neither quotes nor control characters (``ModelName``).
    private static func quoted(_ text: String) -> String { "\"\(text)\"" }
}
