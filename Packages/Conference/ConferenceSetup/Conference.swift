import EventModels
public import PostgresClient
public import TomboloAuthentication
import TomboloModel
public import TomboloPostgresStore

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

    /// What a database lacks of the platform's own triggers and policies, after the steps for its tables and accounts.
    public static func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        try await UserAccounts.steps(live, connection) + SuperAdminProtection.steps(live)
    }

    static let usersTable = EventModels.schema["User"]?.table ?? "users"
    static let assignmentsTable = EventModels.schema["RoleAssignment"]?.table ?? "role_assignment"
    static let users = PostgresSQL.quoteIdentifier("public", usersTable)
    static let assignments = PostgresSQL.quoteIdentifier("public", assignmentsTable)
}
