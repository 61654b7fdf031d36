public import Foundation
package import Logging
package import PostgresClient
import Synchronization
public import TomboloHTTP

/// Runs statements of super administrators that read, as a database user of its own.
///
/// What a statement reaches is decided by that user's rights, which are looked at before each one: a user that may do more
/// than read tables isn't used. Besides, each statement runs
/// - alone: the extended protocol takes one, so that none can end the transaction and go on outside of it;
/// - in a transaction that only reads and is never committed. It has read before the statement comes, and so can't be made
///   one that writes;
/// - on a connection that was made for it and is closed afterwards, so that nothing of a session stays;
/// - in a process of PostgreSQL's that is ended if the statement isn't: see ``SQLBackend``.
public final class SQLConsole: Sendable {
    /// The variable with the connection string of its user.
    public static let variable = "TOMBOLO_SQL_URL"

    private let configuration: PostgresConfiguration
    package let bounds: SQLBounds
    private let running = Mutex(0)

    package init(_ configuration: PostgresConfiguration, bounds: SQLBounds = SQLBounds()) {
        self.configuration = configuration
        self.bounds = bounds
    }

    /// - Returns: nil where the process's environment has no user for it: there is no SQL page then.
    /// - Throws: `ConfigurationError`, which doesn't quote the connection string.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> SQLConsole? {
        guard let url = environment[variable], !url.isEmpty else { return nil }
        guard let configuration = try? PostgresConfiguration(url) else {
            throw ConfigurationError(problems: [
                "\(variable) is not a PostgreSQL address: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
            ])
        }
        return SQLConsole(configuration)
    }

    /// Runs one statement.
    /// - Throws: ``SQLProblem``, or `CancellationError` in a cancelled task, whose statement is cancelled too.
    package func run(_ statement: String, logger: Logger) async throws -> SQLResult {
        guard !statement.allSatisfy(\.isWhitespace) else { throw SQLProblem.empty }
        guard statement.utf8.count <= bounds.statementBytes else {
            throw SQLProblem.tooLong(limit: bounds.statementBytes)
        }
        guard begin() else { throw SQLProblem.busy }
        defer { running.withLock { $0 -= 1 } }
        do {
            let connection = try await PostgresConnection.connect(configuration, logger: logger)
            do {
                let result = try await runToItsEnd(statement, on: connection, logger)
                await connection.close()
                return result
            } catch {
                await connection.close()
                throw error
            }
        } catch let error as PostgresError {
            logger.warning("The SQL page can't use its database: \(error)")
            throw SQLProblem.unreachable(error)
        }
    }

    private func begin() -> Bool {
        running.withLock { count in
            guard count < bounds.concurrency else { return false }
            count += 1
            return true
        }
    }

    /// Its place counts as taken until PostgreSQL's process is free.
    private func runToItsEnd(
        _ statement: String, on connection: PostgresConnection, _ logger: Logger
    ) async throws -> SQLResult {
        let backend = try await SQLBackend(of: connection)
        let (configuration, patience) = (configuration, bounds.statementTimeout + bounds.timeoutPatience)
        let watch = Task {
            try await Task.sleep(for: patience)
            await backend.terminate(configuration, logger: logger)
        }
        defer { watch.cancel() }
        do {
            let result = try await run(statement, on: connection)
            if result.excess == nil { return result }
            await Task { await backend.terminate(configuration, logger: logger) }.value
            return result
        } catch {
            // In a task of its own: this one may be cancelled.
            await Task { await backend.terminate(configuration, logger: logger) }.value
            throw error
        }
    }

    private func run(_ statement: String, on connection: PostgresConnection) async throws -> SQLResult {
        guard try await connection.pooling() != .transaction else { throw SQLProblem.pooled }
        try await connection.execute("BEGIN READ ONLY")
        if let power = try await SQLUser.power(connection) { throw SQLProblem.unsafeUser(power) }
        try await connection.execute(bounds.settings)
        let (clock, bounds) = (ContinuousClock(), bounds)
        let start = clock.now
        do {
            var result = try await PostgresResultLimit.$bytes.withValue(bounds.receivedBytes) {
                try await connection.fold(statement, format: .text, into: SQLResult(bounds)) { $0.add($1) }
            }
            result.duration = clock.now - start
            return result
        } catch let error as PostgresError {
            let place = error.position.map { SQLPlace(position: $0, in: statement) }
            throw SQLProblem.refused(error, place)
        }
    }
}
