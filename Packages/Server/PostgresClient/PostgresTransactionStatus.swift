/// The state of a connection's transaction, as of its last operation.
public enum PostgresTransactionStatus: Sendable {
    /// Not in a transaction.
    case idle
    /// A statement, COPY or stream is running.
    case active
    case inTransaction
    /// A statement of the transaction failed; only ROLLBACK works.
    case inFailedTransaction
    /// Not connected.
    case closed
}
