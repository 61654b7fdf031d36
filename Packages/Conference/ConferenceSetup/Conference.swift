import EventModels
public import PostgresClient
public import TomboloAuthentication
public import TomboloMigration
import TomboloModel

/// What the event platform needs of a database besides its tables.
public enum Conference {
    /// Where the platform's roles are: in the role assignments, for an event or for the whole platform.
    public static let grantSources: [GrantSource] = {
        do throws(ValueError) {
            return [
                try GrantSource(
                    EventModels.schema, className: "RoleAssignment", user: "user", role: "role", scope: "event")
            ]
        } catch {
            preconditionFailure("Role assignments don't give roles: \(error)")
        }
    }()

    /// Triggers and policies besides the tables.
    public static let schemaExtension: any SchemaExtension = ConferenceExtension()

    /// Brings a database to what the platform needs: the tables of its classes, and ``schemaExtension``.
    /// - Parameter connection: of the role that owns the tables, or will; used by nobody else meanwhile.
    public static func migrator(_ connection: PostgresConnection) -> Migrator {
        Migrator(connection, schema: EventModels.schema, extensions: [schemaExtension])
    }

    static let usersTable = EventModels.schema["User"]?.table ?? "users"
    static let assignmentsTable = EventModels.schema["RoleAssignment"]?.table ?? "role_assignment"
    static let users = PostgresSQL.quoteIdentifier("public", usersTable)
    static let assignments = PostgresSQL.quoteIdentifier("public", assignmentsTable)
}
