import ArgumentParser
import TomboloAuthentication
import ToolSupport

/// `migration-tool providers`
struct Providers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Turn ways to log in on and off, and configure them. Servers follow within a few seconds.",
        discussion: """
            local-userpass   e-mail and password; on by default
                             {"registration": true, "confirmation": "mail", "confirmURL": "https://…", "resetURL": "https://…"}
                             "confirmation": "none" doesn't require a confirmation mail
            anon-user        a new account for each login, without credentials
            api-key          keys that users create for programs, and those of 'api-keys add'
            custom-token     JSON Web Tokens of an external issuer; custom-token-NAME for more issuers
                             {"jwksURL": "https://…", "issuers": ["…"], "audiences": ["…"], "algorithms": ["RS256"],
                              "identifier": "sub", "name": "name", "profile": {"pictureURL": "picture"}}
            oauth2-apple     {"audiences": ["the app's bundle identifier"]}; the rest is built in
            oauth2-google    {"audiences": ["the app's client ID"]}; the rest is built in
            custom-function  {"url": "https://…", "secret": "…", "timeoutSeconds": 5}

            docs/accounts.md describes each of them.
            """,
        subcommands: [List.self, Enable.self, Disable.self, Set.self])

    /// `migration-tool providers list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the providers with their settings.")

        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withPool { pool in
                for provider in try await ProviderRegistry(pool: pool).list() {
                    print("\(provider.name)  \(provider.isEnabled ? "on" : "off")  \(provider.settings)")
                }
            }
        }
    }

    /// `migration-tool providers enable`
    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let users log in with a provider.")

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The provider, such as anon-user.")
        var name: String

        func run() async throws {
            try await Providers.change(name, database) { try await $0.setEnabled(true, name) }
            print("Users can log in with \(name).")
        }
    }

    /// `migration-tool providers disable`
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuse new logins with a provider; existing ones stay valid.")

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The provider, such as anon-user.")
        var name: String

        func run() async throws {
            try await Providers.change(name, database) { try await $0.setEnabled(false, name) }
            print("Nobody can log in with \(name) now.")
        }
    }

    /// `migration-tool providers set`
    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace a provider's settings. Doesn't turn it on or off.",
            discussion: """
                Other users of the machine can see a secret in the settings while this runs: pass - to read the \
                settings from standard input.
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The provider, such as custom-token.")
        var name: String

        @Argument(help: "A JSON object, or - for standard input.")
        var settings: String

        func run() async throws {
            var json = settings
            if json == "-" {
                var lines: [String] = []
                while let line = readLine() { lines.append(line) }
                json = lines.joined(separator: "\n")
            }
            let text = json
            try await Providers.change(name, database) { try await $0.set(text, of: name) }
            print("Set \(name).")
        }
    }

    private static func change(
        _ name: String, _ database: DatabaseOptions,
        _ body: nonisolated(nonsending) (ProviderRegistry) async throws -> Void
    ) async throws {
        try await database.withPool { pool in
            do {
                try await body(ProviderRegistry(pool: pool))
            } catch AuthenticationError.noSuchProvider {
                throw ToolError(
                    "There's no provider '\(name)'.", fix: "'migration-tool providers --help' lists them.")
            } catch let error as AuthenticationError {
                throw ToolError(
                    error.description, fix: "'migration-tool providers --help' shows the settings of \(name).")
            }
        }
    }
}

/// `migration-tool api-keys`
struct ServerKeys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-keys", abstract: "Manage the keys that your own programs log in with.",
        subcommands: [Add.self])

    /// `migration-tool api-keys add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an account for a program, with a key, which is printed once.",
            discussion: """
                Rules decide what the account may do, as for every account: use its id to give it a role. Deleting the \
                account also deletes the key. Keys work while the provider api-key is on.
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "What the key is for.")
        var name: String

        func run() async throws {
            try await database.withPool { pool in
                do {
                    let made = try await AccountRegistry(pool: pool).makeServerKey(named: name)
                    print("Created the account \(made.userID). Its key, shown only now: \(made.text)")
                } catch let error as AuthenticationError {
                    throw ToolError(error.description, fix: "Choose another name.")
                }
            }
        }
    }
}
