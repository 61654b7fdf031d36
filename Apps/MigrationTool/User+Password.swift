import ArgumentParser
import TomboloAuthentication
import ToolSupport

extension User {
    /// `migration-tool user password`
    struct Password: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set the password of an account, and log it out everywhere.",
            discussion: """
                Asks for the new password twice, without showing it. If standard input isn't a terminal, its first \
                line is the password. It's never an argument, which other users of the machine could see.

                Existing access tokens stop working: HTTP services refuse them within a second or two, and open sync \
                sessions end with the next tick.

                EXAMPLES
                  migration-tool user password ann@example.org
                  pass show tombolo/ann | migration-tool user password ann@example.org
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The e-mail address of the account.")
        var email: String

        func run() async throws {
            let password = try PasswordInput.read(for: email)
            try await database.withPool { pool in
                let userID = try await ToolError.naming(email) {
                    try await AccountRegistry(pool: pool).setPassword(password, email: email)
                }
                print("The account \(email), id \(userID), has the new password and is logged out everywhere.")
            }
        }
    }

    /// `migration-tool user revoke`
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Log an account out everywhere; its password stays the same.",
            discussion: """
                For a lost device or a leaked token. Existing access tokens stop working: HTTP services refuse them \
                within a second or two, and open sync sessions end with the next tick.

                Anybody who knows the password can still log in: 'migration-tool user password' changes it.
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The e-mail address of the account.")
        var email: String

        func run() async throws {
            try await database.withPool { pool in
                let userID = try await ToolError.naming(email) {
                    try await AccountRegistry(pool: pool).revokeTokens(email: email)
                }
                print("The account \(email), id \(userID), is logged out everywhere.")
            }
        }
    }
}
