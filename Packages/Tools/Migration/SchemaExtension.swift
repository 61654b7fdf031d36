public import PostgresClient
public import TomboloPostgresStore

/// What an app needs in its database in addition to its model's tables, such as its own triggers and policies.
public protocol SchemaExtension: Sendable {
    /// By class name, the properties that the role of other services may not update.
    var fixedProperties: [String: Set<String>] { get }

    /// The roles of the app's own servers. A run without the extension leaves them as they are.
    var databaseRoles: [DatabaseRole] { get }

    /// The missing steps in order. They run after those for tables and accounts. Once they have run, this must return
    /// none.
    /// - Parameters:
    ///   - live: the database before any step of this run.
    ///   - connection: for reading what `live` doesn't have.
    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep]
}

extension SchemaExtension {
    public var fixedProperties: [String: Set<String>] { [:] }
    public var databaseRoles: [DatabaseRole] { [] }
}
