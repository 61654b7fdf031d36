public import ArgumentParser
import Foundation
import Logging
public import PostgresClient

/// The database that a command works on.
public struct DatabaseOptions: ParsableArguments {
    public static let variable = "TOMBOLO_DATABASE_URL"

    @Option(
        name: .customLong("database-url"),
        help: ArgumentHelp(
            "The database, postgresql://USER:PASSWORD@HOST:PORT/DATABASE.",
            discussion: "Default: the environment variable TOMBOLO_DATABASE_URL."))
    public var databaseURL: String?

    public init() {}

    /// - Throws: ``ToolError`` if no database is named, or its address can't be read.
    public func configuration() throws -> PostgresConfiguration {
        let fromEnvironment = ProcessInfo.processInfo.environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
        guard let address = databaseURL ?? fromEnvironment else {
            throw ToolError(
                "No database was specified.",
                fix: "Set \(Self.variable), or pass --database-url postgresql://USER:PASSWORD@HOST:PORT/DATABASE.")
        }
        do {
            var configuration = try PostgresConfiguration(address)
            configuration.applicationName = ProcessInfo.processInfo.processName
            return configuration
        } catch {
            throw ToolError(
                "The database URL is malformed.",
                fix: "Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters percent-encoded.")
        }
    }

    /// Whether the server is on this machine: a socket or a loopback address. As in libpq, anything that the
    /// database's address leaves out comes from the environment. Service files aren't read.
    public static func isLocal(_ configuration: PostgresConfiguration) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        func value(_ keyword: String, _ variable: String) -> String? {
            configuration.keywords[keyword] ?? environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard value("service", "PGSERVICE") == nil else { return false }
        let host = value("hostaddr", "PGHOSTADDR") ?? value("host", "PGHOST") ?? ""
        return host.isEmpty || host.hasPrefix("/") || ["localhost", "127.0.0.1", "::1"].contains(host)
    }

    /// Runs `body` with one connection and closes it.
    nonisolated(nonsending) public func withConnection(
        _ body: nonisolated(nonsending) (PostgresConnection) async throws -> Void
    ) async throws {
        let configuration = try configuration()
        do {
            let connection = try await PostgresConnection.connect(configuration, logger: Self.quiet)
            do {
                try await Self.requireSession(connection)
                try await body(connection)
            } catch {
                await connection.close()
                throw error
            }
            await connection.close()
        } catch let error as PostgresError {
            throw ToolError(error, configuration)
        }
    }

    /// Runs `body` with a small pool and shuts it down.
    nonisolated(nonsending) public func withPool(
        _ body: nonisolated(nonsending) (PostgresPool) async throws -> Void
    ) async throws {
        let configuration = try configuration()
        let options = PostgresPool.Options(maximumConnections: 2)
        do {
            // Without a pool, a connection that fails gives the plain reason.
            let first = try await PostgresConnection.connect(configuration, logger: Self.quiet)
            do {
                try await Self.requireSession(first)
            } catch {
                await first.close()
                throw error
            }
            await first.close()
            let pool = PostgresPool(configuration: configuration, options: options, logger: Self.quiet)
            do {
                try await body(pool)
            } catch {
                await pool.shutdown()
                throw error
            }
            await pool.shutdown()
        } catch let error as PostgresError {
            throw ToolError(error, configuration)
        }
    }

    /// - Throws: ``ToolError`` if the statements of one connection may reach several sessions.
    nonisolated(nonsending) private static func requireSession(_ connection: PostgresConnection) async throws {
        guard try await connection.pooling() == .transaction else { return }
        throw ToolError(
            "The database URL leads to a connection pooler in transaction mode.",
            fix: "Connect to PostgreSQL directly: changes of tables are made under a lock that belongs to a session.")
    }

    private static var quiet: Logger {
        var logger = Logger(label: ProcessInfo.processInfo.processName)
        logger.logLevel = .error
        return logger
    }
}
