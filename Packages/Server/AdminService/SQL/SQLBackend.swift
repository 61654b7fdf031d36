import Logging
import PostgresClient

/// The PostgreSQL process behind a connection of the SQL page.
struct SQLBackend: Sendable {
    private let processID: Int64
    /// Distinguishes the process from a later one with the same number.
    private let startedAt: String

    init(of connection: PostgresConnection) async throws {
        let row = try await connection.query(
            "SELECT pid::bigint, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()")[0]
        processID = try row[0].int64
        startedAt = try row[1].string
    }

    /// Ends the process, whatever it's running, if it still exists. For this it opens another connection as the same
    /// user, which needs no extra right. A statement can catch its own timeout and cancel requests, and go on holding
    /// its locks after its connection has closed. It can't catch this.
    func terminate(_ configuration: PostgresConfiguration, logger: Logger) async {
        do {
            let connection = try await PostgresConnection.connect(configuration, logger: logger)
            do {
                _ = try await connection.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2",
                    [.int64(processID), .text(startedAt)])
            } catch {
                logger.error("PostgreSQL's process \(processID) for the SQL page may still be running: \(error)")
            }
            await connection.close()
        } catch {
            logger.error("PostgreSQL's process \(processID) for the SQL page may still be running: \(error)")
        }
    }
}
