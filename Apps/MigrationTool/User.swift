import ArgumentParser
import ConferenceSetup
import Foundation
import PostgresClient
import TomboloAuthentication
import TomboloModel

/// `migration-tool user`
struct User: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage accounts.", subcommands: [Add.self, Password.self, Revoke.self])

    /// Runs `body`, and says which account is missing if it is.
    static func named<R: Sendable>(_ email: String, _ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch AuthenticationError.unknownUser {
            throw ToolError(
                "No account has the e-mail address \(email).",
                fix: "Check the address; 'migration-tool user add \(email)' makes an account.")
        }
    }

    /// `migration-tool user add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an account, and give it a role where one is named.",
            discussion: """
                The password is read from the first line of standard input with --password-stdin; otherwise one is \
                made and printed once.

                An account that exists keeps its password, and is given a role only with --existing: e-mail \
                addresses are not confirmed, so that somebody else may have made the account. Check its id first.
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The e-mail address to log in with.")
        var email: String

        @Option(help: "The name to show; the address's first part where it is left out.")
        var name: String?

        @Option(
            help: ArgumentHelp(
                "superAdmin, admin; or, with --event: owner, organizer, coorganizer, trackOrganizer, moderator, registrar."
            ))
        var role: String?

        @Option(help: "The id of the event that the role is for.")
        var event: String?

        @Flag(help: "Read the password from standard input.")
        var passwordStdin = false

        @Flag(help: "Give the role to the account that exists; make none.")
        var existing = false

        func run() async throws {
            let event = try event.map { try ObjectId(string: $0) }
            if event != nil, role == nil { throw ValidationError("--event goes with --role.") }
            if let role { try RoleAssignments.check(role, event: event) }
            if existing, role == nil { throw ValidationError("--existing goes with --role.") }
            if existing, passwordStdin || name != nil {
                throw ValidationError("--existing makes no account: leave out --password-stdin and --name.")
            }
            if existing { return try await giveRole(event) }
            let given = passwordStdin ? readLine(strippingNewline: true) ?? "" : nil
            let password = given ?? Self.randomPassword()
            try await database.withPool { pool in
                let accounts = AccountRegistry(pool: pool)
                let userID: ObjectId
                do {
                    userID = try await accounts.register(
                        email: email, password: password,
                        displayName: name ?? String(email.split(separator: "@").first ?? "User"))
                    print("Made the account \(email), id \(userID).")
                    if given == nil { print("Its password, shown only now: \(password)") }
                } catch AuthenticationError.emailTaken {
                    userID = try await accounts.user(email: email)
                    if let role, try await !RoleAssignments.has(role, userID, event: event, pool) {
                        throw ToolError(
                            "There is already an account \(email), id \(userID), and it doesn't have the role \(role). "
                                + "It was given nothing: e-mail addresses are not confirmed, so that somebody else may "
                                + "have made the account.",
                            fix: "If you know that it belongs to the right person, run this again with --existing.")
                    }
                    print("The account \(email) exists, id \(userID); its password stays.")
                }
                try await giveRole(to: userID, event, pool)
            }
        }

        /// To the account that exists.
        private func giveRole(_ event: ObjectId?) async throws {
            try await database.withPool { pool in
                let userID = try await User.named(email) { try await AccountRegistry(pool: pool).user(email: email) }
                print("The account \(email) exists, id \(userID); its password stays.")
                try await giveRole(to: userID, event, pool)
            }
        }

        private func giveRole(to userID: ObjectId, _ event: ObjectId?, _ pool: PostgresPool) async throws {
            guard let role else { return }
            try await RoleAssignments.give(role, to: userID, event: event, pool)
            print("It has the role \(role)\(event.map { " in the event \($0)" } ?? "").")
        }

        /// 24 characters that are not mistaken for each other: about 119 bits.
        private static func randomPassword() -> String {
            let characters = Array("abcdefghjkmnpqrstuvwxyz23456789")
            var generator = SystemRandomNumberGenerator()
            return String((0..<24).compactMap { _ in characters.randomElement(using: &generator) })
        }
    }
}
