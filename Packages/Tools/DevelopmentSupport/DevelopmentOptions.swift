public import ArgumentParser
public import GatewayService
public import Logging
public import PostgresClient
import TomboloMigration
import ToolSupport

/// Command-line options for a server's development mode.
public struct DevelopmentOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Add the classes and properties that devices declare.",
            discussion: """
                Every logged-in user may read and write classes without rules. For your own machine: it's refused on \
                an address that others can reach.
                """))
    public var development = false

    @Flag(help: "Allow development mode on an address that others can reach.")
    public var developmentForEverybody = false

    public init() {}

    public func validate() throws {
        guard development || !developmentForEverybody else {
            throw ValidationError("--development-for-everybody needs --development.")
        }
    }

    /// Prepares the database, and returns what the gateway needs for development mode.
    /// - Parameter host: the address that the server listens on.
    /// - Returns: nil if development mode is off.
    /// - Throws: `ValidationError` for an address that other machines can reach; ``ToolSupport/ToolError`` for a
    ///   database that can't be reached; what a migration throws.
    public func mode(
        host: String, _ configuration: PostgresConfiguration, logger: Logger
    ) async throws -> DevelopmentMode? {
        guard development else { return nil }
        guard developmentForEverybody || Self.isLoopback(host) else {
            throw ValidationError(
                "Development mode lets every logged-in user read and write, and others can reach \(host). Listen on "
                    + "127.0.0.1, or add --development-for-everybody if that's what you want.")
        }
        logger.warning(
            """
            DEVELOPMENT MODE: devices may add classes and properties, and every logged-in user may read and write \
            classes without rules. Never use it with data that matters.
            """)
        do {
            try await DevelopmentMigration.prepare(configuration)
        } catch let error as PostgresError {
            throw ToolError(error, configuration)
        }
        return DevelopmentMode(
            add: { document in
                do {
                    try await DevelopmentMigration.add(document, configuration)
                } catch let error as MigrationError where error.isRetryable {
                    throw DevelopmentMode.Delay("\(error)")
                } catch let error as PostgresError where error.isRetryable {
                    throw DevelopmentMode.Delay("\(error)")
                }
            }, logger: logger)
    }

    /// Whether a host can only be reached from this machine.
    public static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
