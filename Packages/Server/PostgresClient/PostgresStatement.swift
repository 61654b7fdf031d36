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

extension PostgresStatement: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        self.init(value)
    }
}
