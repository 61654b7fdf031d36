/// The SQL of one of the two databases. Both have the same table and column names, but different types, placeholders
/// and a few different functions.
public enum SQLDialect: String, Hashable, Sendable, CaseIterable {
    case sqlite
    case postgresql
}

extension SQLDialect {
    /// An identifier in double quotes: safe whatever it contains, and never read as a keyword.
    public func quoted(_ identifier: String) -> String {
        // Most names contain no quote to double, and checking that by bytes is many times faster.
        identifier.utf8.contains(UInt8(ascii: "\""))
            ? "\"\(identifier.replacing("\"", with: "\"\""))\"" : "\"\(identifier)\""
    }

    /// A string constant in single quotes. Only for the program's own constants; bind external values as parameters.
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
