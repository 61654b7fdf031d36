import PostgresClient
import TomboloMigration
import TomboloPostgresStore

/// Everything that the platform adds to the schema: accounts beside users, the protection of super administrators,
/// roles that must not become vacant, the visibility of objects that follows from their event's, what goes into the
/// trash together, links within one event, sensible values, and the ticket API's role.
struct ConferenceExtension: SchemaExtension {
    /// Other services may change neither a user's login address nor the key that credentials refer to. Row-level
    /// security keeps other services from changing the platform's roles.
    let fixedProperties: [String: Set<String>] = ["User": ["_id", "email", "isSuperAdmin"]]

    let databaseRoles = [Conference.ticketRole]

    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        try await UserAccounts.steps(live, connection) + SuperAdminProtection.steps(live) + LastingRoles.steps(live)
            + EventOwners.steps(live) + EventVisibility.steps(live) + TrashedLinks.steps(live, connection)
            + TrashedUsers.steps(live)
            + LinksWithinEvent.steps(live) + SensibleValues.steps(live)
    }
}
