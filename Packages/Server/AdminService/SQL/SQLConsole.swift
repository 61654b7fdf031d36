public import Foundation
package import Logging
package import PostgresClient
import Synchronization
public import TomboloHTTP

/// Runs read-only statements of super administrators, as a separate database user.
///
/// That user's rights decide what a statement can reach. They are checked before each statement: a user that may do
/// more than read tables isn't used. In addition, each statement runs
/// - alone: the extended protocol takes only one statement, so it can't end the transaction and continue outside it;
/// - in a read-only transaction that is never committed. The transaction has read something before the statement
///   runs, so PostgreSQL no longer lets the statement make it a writing one;
/// - on a connection opened for it and closed afterwards, so that no session state survives;
/// - in a PostgreSQL process that is terminated if the statement doesn't end: see ``SQLBackend``.
public final class SQLConsole: Sendable {
    /// The variable with the connection string of that user.
    public static let variable = "TOMBOLO_SQL_URL"

    private let configuration: PostgresConfiguration
    package let bounds: SQLBounds
    private let running = Mutex(0)

    package init(_ configuration: PostgresConfiguration, bounds: SQLBounds = SQLBounds()) {
        self.configuration = configuration
        self.bounds = bounds
    }

    /// - Returns: nil if the process's environment names no such user. There is then no SQL page.
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

    /// The statement counts against the concurrency limit until its PostgreSQL process has ended.
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
            // In a separate task, since this one may be cancelled.
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
