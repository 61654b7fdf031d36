/// One of the two databases' SQL. Both have the same tables and column names; types, placeholders and a few functions
/// differ.
public enum SQLDialect: String, Hashable, Sendable, CaseIterable {
    case sqlite
    case postgresql
}

extension SQLDialect {
    /// An identifier in double quotes: safe whatever it contains, and never a keyword.
    public func quoted(_ identifier: String) -> String {
        // Most names have nothing to double, and looking for it by bytes is many times faster.
        identifier.utf8.contains(UInt8(ascii: "\""))
            ? "\"\(identifier.replacing("\"", with: "\"\""))\"" : "\"\(identifier)\""
    }

    /// A text constant in single quotes. Only for the program's own constants; bind values from outside as parameters.
    public func literal(_ text: String) -> String {
        "'\(text.replacing("'", with: "''"))'"
    }

    /// The placeholder of a parameter, numbered from 1: `$1` in PostgreSQL, `?` in SQLite.
    public func placeholder(_ number: Int) -> String {
        switch self {
        case .sqlite: "?"
        case .postgresql: "$\(number)"
        }
    }
}
