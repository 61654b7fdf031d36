/// What the current task's transactions do before they commit.
public enum PostgresTransactionEnding {
    /// Runs at the end of each transaction that `PostgresConnection.transaction(isolation:readOnly:…)` opens in the
    /// task, except read-only ones. If it fails, the transaction is rolled back. Nil runs nothing.
    @TaskLocal public static var statement: PostgresStatement?
}
