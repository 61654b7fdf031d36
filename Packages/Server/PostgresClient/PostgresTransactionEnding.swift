/// What the present task's transactions do before they commit.
public enum PostgresTransactionEnding {
    /// Runs at the end of each transaction that `PostgresConnection.transaction(isolation:readOnly:…)` opens in the task, but
    /// not of a read-only one. If it fails, the transaction is rolled back. Nil for nothing.
    @TaskLocal public static var statement: PostgresStatement?
}
