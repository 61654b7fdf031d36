/// A piece of SQL with its parameters, in the order of their placeholders.
public struct SQLFragment: Hashable, Sendable {
    public var sql: String
    public var parameters: [SQLParameter]

    public init(sql: String, parameters: [SQLParameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}
