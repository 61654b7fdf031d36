/// Where a connection stands, as of its last operation.
public enum PostgresTransactionStatus: Sendable {
    /// In no transaction.
    case idle
    /// A statement, COPY or stream is under way.
    case active
    case inTransaction
    /// A statement of the transaction failed; only ROLLBACK works.
    case inFailedTransaction
    /// Not connected.
    case closed
}
