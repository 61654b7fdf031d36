/// One step towards the tables of a ``Schema``. Steps run in order, and each is idempotent.
public struct SchemaStep: Hashable, Sendable {
    /// What the step creates, for plans and logs: `table listing`.
    public let name: String
    /// One or more statements, separated by semicolons.
    public let sql: String
    /// False for a step that PostgreSQL refuses to run inside a transaction (`CREATE INDEX CONCURRENTLY`).
    public let isTransactional: Bool

    public init(name: String, sql: String, isTransactional: Bool = true) {
        self.name = name
        self.sql = sql
        self.isTransactional = isTransactional
    }
}
