/// The SQL of one of the two databases. Both get the same tables and column names; types, placeholders and a few
/// functions differ.
public enum SQLDialect: String, Hashable, Sendable, CaseIterable {
    case sqlite
    case postgresql
}

extension SQLDialect {
    /// An identifier in double quotes: safe whatever it holds, and never taken for a keyword.
    public func quoted(_ identifier: String) -> String {
        "\"\(identifier.replacing("\"", with: "\"\""))\""
    }

    /// A text constant in single quotes. For constants of the program; values from outside are parameters.
    public func literal(_ text: String) -> String {
        "'\(text.replacing("'", with: "''"))'"
    }

    /// The placeholder of a parameter, counted from 1: `$1` in PostgreSQL, `?` in SQLite.
    public func placeholder(_ number: Int) -> String {
        switch self {
        case .sqlite: "?"
        case .postgresql: "$\(number)"
        }
    }
}
