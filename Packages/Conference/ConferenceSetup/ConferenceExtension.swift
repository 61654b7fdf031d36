import PostgresClient
import TomboloMigration
import TomboloPostgresStore

/// Accounts beside users, the protection of super administrators, roles that somebody keeps, what is public because its
/// event is, what goes into the trash with what, links within one event, values that make sense, and the ticket API's role.
struct ConferenceExtension: SchemaExtension {
    /// Of an account the address that people log in with, and its key, which credentials refer to; row-level security
    /// keeps other services from the roles of the platform.
    let fixedProperties: [String: Set<String>] = ["User": ["_id", "email", "isSuperAdmin"]]

    let databaseRoles = [Conference.ticketRole]

    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        try await UserAccounts.steps(live, connection) + SuperAdminProtection.steps(live) + LastingRoles.steps(live)
            + EventOwners.steps(live) + EventVisibility.steps(live) + TrashedLinks.steps(live, connection)
            + TrashedUsers.steps(live)
            + LinksWithinEvent.steps(live) + SensibleValues.steps(live)
    }
}
