import ArgumentParser
import ConferenceSetup
import PostgresClient
import TomboloAuthentication
import TomboloModel
import ToolSupport

/// `conference add-staff`
struct AddStaff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create an account with a role of the platform or of an event.",
        discussion: """
            With --password-stdin, the password is the first line of standard input; otherwise one is generated and \
            printed once.

            An existing account keeps its password, and gets the role only with --existing: e-mail addresses aren't \
            confirmed, so somebody else may have created the account. Check its id first.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var account: AccountOptions

    @Option(
        help: ArgumentHelp(
            "superAdmin, admin; or, with --event: owner, organizer, coorganizer, trackOrganizer, moderator, registrar."
        ))
    var role: String

    @Option(help: "The id of the event that the role is for.")
    var event: String?

    @Flag(help: "Give the role to the existing account; create none.")
    var existing = false

    func run() async throws {
        let event = try event.map { try ObjectId(string: $0) }
        try RoleAssignments.check(role, event: event)
        if existing, account.passwordStdin || account.name != nil {
            throw ValidationError("--existing doesn't create an account: leave out --password-stdin and --name.")
        }
        try await database.withPool { pool in
            let userID = existing ? try await existingAccount(pool) : try await anyAccount(event, pool)
            guard try await RoleAssignments.give(role, to: userID, event: event, pool) else {
                throw ToolError(
                    "The role \(role) wasn't given: the event already has an owner.",
                    fix: "The owner or a super administrator can hand over the role in the panel, at 'People'.")
            }
            print("It has the role \(role)\(event.map { " in the event \($0)" } ?? "").")
        }
    }

    nonisolated(nonsending) private func existingAccount(_ pool: PostgresPool) async throws -> ObjectId {
        let email = account.email
        let userID = try await ToolError.naming(email) { try await AccountRegistry(pool: pool).user(email: email) }
        print("The account \(email) already exists, id \(userID); it keeps its password.")
        return userID
    }

    /// Creates an account, or finds one that already has the role.
    nonisolated(nonsending) private func anyAccount(_ event: ObjectId?, _ pool: PostgresPool) async throws -> ObjectId {
        let accounts = AccountRegistry(pool: pool)
        do {
            return try await account.register(accounts)
        } catch AuthenticationError.emailTaken {
            let userID = try await accounts.user(email: account.email)
            guard try await RoleAssignments.has(role, userID, event: event, pool) else {
                throw ToolError(
                    "There's already an account \(account.email), id \(userID), without the role \(role). It wasn't "
                        + "given the role: e-mail addresses aren't confirmed, so somebody else may have created the "
                        + "account.",
                    fix: "If you know that it belongs to the right person, run this again with --existing.")
            }
            print("The account \(account.email) already exists, id \(userID); it keeps its password.")
            return userID
        }
    }
}
