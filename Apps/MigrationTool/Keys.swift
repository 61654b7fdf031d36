import ArgumentParser
import Foundation
import TomboloAuthentication
import ToolSupport

/// `migration-tool keys`
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the keys that access tokens are signed with.",
        discussion: """
            The newest key signs; tokens of older keys stay valid until their key is retired. To replace a key, run \
            'rotate', wait half an hour until its last tokens have expired, then 'retire' it. If a key has leaked, \
            retire it at once: devices get new tokens with their refresh tokens, without logging in again.
            """,
        subcommands: [List.self, Rotate.self, Retire.self])

    /// `migration-tool keys list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the keys, newest first. Secrets aren't shown.")

        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withPool { pool in
                let keys = try await SigningKeys(pool: pool, tokens: Keys.withoutSecret()).list()
                if keys.isEmpty { print("There's no key yet; the first login creates one.") }
                let signer = keys.first { $0.retiredAt == nil }
                for key in keys {
                    let state =
                        if let retiredAt = key.retiredAt {
                            "retired \(retiredAt.formatted(.iso8601))"
                        } else {
                            key == signer ? "signs" : "verifies"
                        }
                    print("\(key.id)  \(SigningKey.algorithm)  \(key.createdAt.formatted(.iso8601))  \(state)")
                }
            }
        }
    }

    /// `migration-tool keys rotate`
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a new key, which signs from now on.",
            discussion: """
                TOMBOLO_JWT_SECRET must be the servers' secret: it encrypts the private key. To replace the secret \
                itself, rotate with the new secret, restart the servers with it right away, then retire the older keys.
                """)

        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            let tokens = try Keys.fromEnvironment()
            try await database.withPool { pool in
                let key = try await SigningKeys(pool: pool, tokens: tokens).rotate()
                print("Created the key \(key.id). Servers will sign with it within a few seconds.")
            }
        }
    }

    /// `migration-tool keys retire`
    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuse a key's tokens from now on, and delete its private key.")

        @OptionGroup var database: DatabaseOptions

        @Argument(help: "The key's id, as 'keys list' prints it.")
        var id: String

        func run() async throws {
            try await database.withPool { pool in
                do {
                    let isNew = try await SigningKeys(pool: pool, tokens: Keys.withoutSecret()).retire(id)
                    print(
                        isNew
                            ? "Retired the key \(id). Servers will refuse its tokens within a few seconds."
                            : "The key \(id) was already retired.")
                } catch let error as AuthenticationError {
                    throw ToolError(error.description, fix: "See 'migration-tool keys list' and 'keys rotate'.")
                }
            }
        }
    }

    private static let variable = "TOMBOLO_JWT_SECRET"

    private static func fromEnvironment() throws -> TokenConfiguration {
        guard let secret = ProcessInfo.processInfo.environment[variable], !secret.isEmpty else {
            throw ToolError("\(variable) is not set.", fix: "Set it to the servers' secret.")
        }
        do throws(AuthenticationError) {
            return try TokenConfiguration(secret: secret)
        } catch {
            throw ToolError(error.description, fix: "Set \(variable) to the servers' secret.")
        }
    }

    /// For commands that don't seal anything.
    private static func withoutSecret() throws -> TokenConfiguration {
        try TokenConfiguration(secret: UUID().uuidString)
    }
}
