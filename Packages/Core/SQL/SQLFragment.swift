/// A piece of SQL with its parameters, in the order of their placeholders.
public struct SQLFragment: Hashable, Sendable {
    /// The SQL, with a placeholder for each parameter.
    public var sql: String
    /// The values to bind, in the order of their placeholders.
    public var parameters: [SQLParameter]

    public init(sql: String, parameters: [SQLParameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}
