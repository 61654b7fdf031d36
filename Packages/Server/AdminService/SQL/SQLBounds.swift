/// How much a statement of the SQL page may take.
package struct SQLBounds: Sendable {
    /// Its text, in bytes.
    package var statementBytes = 16 << 10
    /// Rows that are shown.
    package var rows = 1_000
    /// Of a cell that are shown, in bytes.
    package var cellBytes = 2_000
    /// Of all cells that are shown, in bytes, with ``cellOverhead`` for each.
    package var resultBytes = 2 << 20
    /// What a page needs for a cell besides its text, in bytes.
    package static let cellOverhead = 32
    /// What the database may send until reading is given up, in bytes.
    package var receivedBytes = 16 << 20
    /// Of PostgreSQL's words about an error, each of message, detail and hint, in bytes: statements can raise texts of any size.
    package static let messageBytes = 2_000
    /// How long it may run.
    package var statementTimeout = Duration.seconds(10)
    /// How much longer PostgreSQL may take to end it.
    package var timeoutPatience = Duration.seconds(2)
    /// How long it may wait for a lock.
    package var lockTimeout = Duration.seconds(2)
    /// Statements at a time, of all users of a server together.
    package var concurrency = 2

    package init() {}

    /// For the transaction of a statement. A transaction with a cursor that outlasts it can't be prepared, which would leave it
    /// there with its locks after the connection has gone.
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
