/// SQL text with its parameters.
public struct PostgresStatement: Sendable {
    public var sql: String
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
