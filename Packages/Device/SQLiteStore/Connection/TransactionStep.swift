/// The statements that begin and commit a transaction. Every transaction uses two of them, so they stay prepared.
package enum TransactionStep: Int, CaseIterable {
    /// Begins without a lock. The first read fixes the version.
    case begin
    /// Begins with the write lock.
    case beginImmediate
    case commit

    var sql: String {
        switch self {
        case .begin: "BEGIN"
        case .beginImmediate: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        }
    }
}
