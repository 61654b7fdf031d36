public import PostgresClient
public import TomboloPostgresStore

/// What an app needs of its database besides the tables of its model, such as triggers and policies of its own.
public protocol SchemaExtension: Sendable {
    /// Properties that the role of other services may not update, by the name of their class.
    var fixedProperties: [String: Set<String>] { get }

    /// The roles of the app's own servers. A run without the extension leaves them as they are.
    var databaseRoles: [DatabaseRole] { get }

    /// What is missing, in order. The steps run after those for tables and accounts, and must have nothing left to say
    /// once they ran.
    /// - Parameters:
    ///   - live: the database as it is before any step of this run.
    ///   - connection: for reading what the catalog lacks.
    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep]
}

extension SchemaExtension {
    public var fixedProperties: [String: Set<String>] { [:] }
    public var databaseRoles: [DatabaseRole] { [] }
}
