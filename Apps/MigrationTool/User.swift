import ArgumentParser
import TomboloAuthentication
import ToolSupport

/// `migration-tool user`
struct User: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage accounts.",
        subcommands: [
            Add.self, Password.self, Revoke.self, SetData.self, Disable.self, Enable.self, Verify.self, Unverify.self,
            RemoveSecondFactor.self, Delete.self,
        ])

    /// `migration-tool user add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an account.",
            discussion: """
                With --password-stdin, the password is the first line of standard input; otherwise one is generated \
                and printed once. An existing account keeps its password.
                """)

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var account: AccountOptions

        func run() async throws {
            try await database.withPool { pool in
                let accounts = AccountRegistry(pool: pool)
                do {
                    _ = try await account.register(accounts)
                } catch AuthenticationError.emailTaken {
                    let userID = try await accounts.user(email: account.email)
                    print("The account \(account.email) already exists, id \(userID); it keeps its password.")
                }
            }
        }
    }

    /// `migration-tool user set-data`
    struct SetData: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set an account's custom data: %%user.custom_data in rules.",
            discussion: """
                Replaces the existing data. Open sync sessions follow within a second or two, without a new login.

                Example: migration-tool user set-data ann@example.org '{"team": "blue", "isLead": true}'
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The e-mail address of the account.")
        var email: String

        @Argument(help: "A JSON object of at most \(AccountRegistry.maximumCustomDataByteCount >> 10) KiB.")
        var json: String

        func run() async throws {
            try await database.withPool { pool in
                let userID = try await ToolError.naming(email) {
                    try await AccountRegistry(pool: pool).setCustomData(json, email: email)
                }
                print("The account \(email), id \(userID), has the new custom data.")
            }
        }
    }

    /// `migration-tool user disable`
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keep an account from logging in, and log it out everywhere; its data stays.")

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The e-mail address of the account.")
        var email: String

        func run() async throws { try await User.setEnabled(false, email, database) }
    }

    /// `migration-tool user enable`
    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let a disabled account log in again.")

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The e-mail address of the account.")
        var email: String

        func run() async throws { try await User.setEnabled(true, email, database) }
    }

    /// `migration-tool user verify`
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Mark an account's e-mail address as verified: %%user.data.isVerified in rules.",
            discussion: """
                An address that was confirmed by mail is already verified. If the account's address changes, the new \
                one isn't verified.
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The e-mail address of the account.")
        var email: String

        func run() async throws { try await User.setVerified(true, email, database) }
    }

    /// `migration-tool user unverify`
    struct Unverify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Mark an account's e-mail address as not verified.")

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The e-mail address of the account.")
        var email: String

        func run() async throws { try await User.setVerified(false, email, database) }
    }

    /// `migration-tool user remove-second-factor`
    struct RemoveSecondFactor: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an account's second factor, for somebody who lost it and has no recovery code.",
            discussion: """
                The password alone then logs in to the admin server. Make sure you know who is asking: a thief who has \
                the password asks for this next. If TOMBOLO_SECOND_FACTOR demands one, the account must set up another.
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The e-mail address of the account.")
        var email: String

        func run() async throws {
            try await database.withPool { pool in
                let userID = try await ToolError.naming(email) {
                    try await AccountRegistry(pool: pool).removeSecondFactor(email: email)
                }
                print("The account \(email), id \(userID), has no second factor now.")
            }
        }
    }

    private static func setVerified(_ isVerified: Bool, _ email: String, _ database: DatabaseOptions) async throws {
        try await database.withPool { pool in
            let userID = try await ToolError.naming(email) {
                try await AccountRegistry(pool: pool).setVerified(isVerified, email: email)
            }
            print("The account \(email), id \(userID), is \(isVerified ? "verified" : "not verified").")
        }
    }

    /// `migration-tool user delete`
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an account with its logins and keys.",
            discussion: """
                What the account wrote into an app's classes stays. Its devices are logged out, within about a second \
                if they're connected; edits that they try to upload later are refused. This can't be undone. To keep \
                the account, use 'user disable'.
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The e-mail address of the account.")
        var email: String

        func run() async throws {
            try await database.withPool { pool in
                let userID = try await ToolError.naming(email) {
                    try await AccountRegistry(pool: pool).delete(email: email)
                }
                print("The account \(email), id \(userID), is deleted.")
            }
        }
    }

    private static func setEnabled(_ isEnabled: Bool, _ email: String, _ database: DatabaseOptions) async throws {
        try await database.withPool { pool in
            let userID = try await ToolError.naming(email) {
                try await AccountRegistry(pool: pool).setEnabled(isEnabled, email: email)
            }
            print("The account \(email), id \(userID), \(isEnabled ? "can log in" : "is disabled").")
        }
    }
}
