internal import Foundation

/// SQL text with its parameters.
public struct PostgresStatement: Sendable, Hashable {
    /// The SQL text, with `$1`, `$2`, … for the parameters.
    public var sql: String
    /// The parameters, in order.
    public var parameters: [PostgresParameter]

    public init(_ sql: String, _ parameters: [PostgresParameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}

extension PostgresStatement {
    /// Compares the bytes of the texts, as the server does.
    public static func == (left: PostgresStatement, right: PostgresStatement) -> Bool {
        left.sql.isSameText(as: right.sql) && left.parameters == right.parameters
    }
}

extension String {
    /// Whether the bytes are the same. To Swift, `é` as one code point equals `é` as two; to the server it doesn't.
    /// Uses `memcmp` because every query looks up its statement, and comparing UTF-8 views takes several times as
    /// long.
    func isSameText(as other: String) -> Bool {
        var (one, other) = (self, other)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                guard one.count == other.count else { return false }
                guard let start = one.baseAddress, let otherStart = other.baseAddress else { return one.isEmpty }
                return memcmp(start, otherStart, one.count) == 0
            }
        }
    }
}

extension PostgresStatement: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        self.init(value)
    }
}
