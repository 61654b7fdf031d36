/// Quotes names and values for SQL text. Prefer parameters for values.
public enum PostgresSQL {
    /// `name` as a quoted identifier; several names are joined by dots: `quoteIdentifier("public", "Session")`.
    public static func quoteIdentifier(_ names: String...) -> String {
        names.map(quote).joined(separator: ".")
    }

    private static func quote(_ name: String) -> String {
        // Most names have no quotes to double, and checking the bytes is many times faster than replacing.
        guard name.utf8.contains(UInt8(ascii: "\"")) else { return "\"\(name)\"" }
        return "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// `value` as a string literal that means the same under either setting of `standard_conforming_strings`.
    public static func quoteLiteral(_ value: String) -> String {
        let quoted = value.replacing("'", with: "''")
        return quoted.contains("\\") ? "E'" + quoted.replacing("\\", with: "\\\\") + "'" : "'" + quoted + "'"
    }
}
