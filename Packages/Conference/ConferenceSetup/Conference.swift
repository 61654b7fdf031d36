import EventModels
public import PostgresClient
public import TomboloMigration
import TomboloModel

/// What the event platform needs in a database besides its tables.
public enum Conference {
    /// The app's name, in a database that several apps may share.
    public static let app = "conference"

    /// Triggers and policies besides the tables.
    public static let schemaExtension: any SchemaExtension = ConferenceExtension()

    /// Brings a database to what the platform needs: the tables of its classes, its rules, and ``schemaExtension``.
    /// Other apps in the database are left alone.
    /// - Parameters:
    ///   - connection: a connection as the role that owns the tables, or will; not used by anything else meanwhile.
    ///   - replacesBoxes: whether to store the rules unchanged, discarding what administrators changed in their
    ///     matrix.
    public static func migrator(
        _ connection: PostgresConnection, replacesBoxes: Bool = false
    ) async throws -> Migrator {
        try await Migrator.toDocuments(
            [documents()], on: connection, extensions: [schemaExtension], replacesBoxes: replacesBoxes)
    }

    /// The platform's models and rules.
    public static func documents() throws -> AppDocuments {
        AppDocuments(
            models: try ModelDocument(app: app, objectTypes: EventModels.objectTypes),
            rules: String(decoding: EventModels.ruleDocument, as: UTF8.self))
    }

    static let usersTable = EventModels.schema["User"]?.table ?? "users"
    static let assignmentsTable = EventModels.schema["RoleAssignment"]?.table ?? "role_assignment"
    static let ordersTable = EventModels.schema["Order"]?.table ?? "orders"
    static let users = PostgresSQL.quoteIdentifier("public", usersTable)
    static let assignments = PostgresSQL.quoteIdentifier("public", assignmentsTable)
    static let orders = PostgresSQL.quoteIdentifier("public", ordersTable)
}
