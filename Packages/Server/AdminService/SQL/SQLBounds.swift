/// Limits on a statement of the SQL page.
package struct SQLBounds: Sendable {
    /// The length of the statement, in bytes.
    package var statementBytes = 16 << 10
    /// The number of rows shown.
    package var rows = 1_000
    /// How much of a cell is shown, in bytes.
    package var cellBytes = 2_000
    /// How much of all cells is shown, in bytes, counting ``cellOverhead`` for each.
    package var resultBytes = 2 << 20
    /// What a cell adds to a page besides its text, in bytes.
    package static let cellOverhead = 32
    /// How much the database may send before reading is given up, in bytes.
    package var receivedBytes = 16 << 20
    /// The limit for each of an error's message, detail and hint, in bytes. Statements can raise texts of any size.
    package static let messageBytes = 2_000
    /// The time limit for the statement.
    package var statementTimeout = Duration.seconds(10)
    /// How much longer PostgreSQL may take to end the statement.
    package var timeoutPatience = Duration.seconds(2)
    /// How long the statement may wait for a lock.
    package var lockTimeout = Duration.seconds(2)
    /// Concurrent statements, for all users of a server together.
    package var concurrency = 2

    package init() {}

    /// The settings of a statement's transaction. The cursor WITH HOLD keeps the statement from preparing the
    /// transaction for two-phase commit, which would leave the transaction and its locks behind after the connection
    /// has closed.
    var settings: String {
        func milliseconds(_ duration: Duration) -> Int { max(1, Int(duration / .milliseconds(1))) }
        return """
            SET LOCAL statement_timeout = \(milliseconds(statementTimeout));
            SET LOCAL lock_timeout = \(milliseconds(lockTimeout));
            SET LOCAL idle_in_transaction_session_timeout = \(milliseconds(statementTimeout));
            SET LOCAL bytea_output = 'hex';
            SET LOCAL client_min_messages = 'error';
            DECLARE tombolo NO SCROLL CURSOR WITH HOLD FOR SELECT 1
            """
    }
}
