import ArgumentParser
import TomboloAuthentication
import ToolSupport

/// `migration-tool providers`
struct Providers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Switch ways to log in on and off, and set them. Servers follow within a few seconds.",
        discussion: """
            local-userpass   e-mail and password; on by itself
                             {"registration": true, "confirmation": "mail", "confirmURL": "https://…", "resetURL": "https://…"}
                             "confirmation": "none" lets an address log in without a mail
            anon-user        an account for each login, without any proof
            api-key          keys that users make for programs, and those of 'api-keys add'
            custom-token     JSON Web Tokens of an outside issuer; custom-token-NAME for further ones
                             {"jwksURL": "https://…", "issuers": ["…"], "audiences": ["…"], "algorithms": ["RS256"],
                              "identifier": "sub", "name": "name", "profile": {"pictureURL": "picture"}}
            oauth2-apple     {"audiences": ["the app's bundle identifier"]}; the rest is known
            oauth2-google    {"audiences": ["the app's client ID"]}; the rest is known
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
            abstract: "Refuse further logins with a provider; those that there are go on.")

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The provider, such as anon-user.")
        var name: String

        func run() async throws {
            try await Providers.change(name, database) { try await $0.setEnabled(false, name) }
            print("Nobody can log in with \(name).")
        }
    }

    /// `migration-tool providers set`
    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace a provider's settings; whether it is on stays.",
            discussion: """
                A secret in the settings is visible to other users of the machine while this runs: pass - to read the \
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
                    "There is no provider '\(name)'.", fix: "'migration-tool providers --help' lists them.")
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
        commandName: "api-keys", abstract: "Manage keys with which programs of one's own log in.",
        subcommands: [Add.self])

    /// `migration-tool api-keys add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an account for a program, with a key, which is printed once.",
            discussion: """
                Rules decide what the account may do, as for everybody: give it a role by its id. Deleting the account \
                ends the key. Keys work while the provider api-key is on.
                """)

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "What the key is for.")
        var name: String

        func run() async throws {
            try await database.withPool { pool in
                do {
                    let made = try await AccountRegistry(pool: pool).makeServerKey(named: name)
                    print("Made the account \(made.userID). Its key, shown only now: \(made.text)")
                } catch let error as AuthenticationError {
                    throw ToolError(error.description, fix: "Choose another name.")
                }
            }
        }
    }
}
