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
    /// By the bytes of the texts, as the server compares them.
    public static func == (left: PostgresStatement, right: PostgresStatement) -> Bool {
        left.sql.utf8.elementsEqual(right.sql.utf8) && left.parameters == right.parameters
    }
}

extension PostgresStatement: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        self.init(value)
    }
}
