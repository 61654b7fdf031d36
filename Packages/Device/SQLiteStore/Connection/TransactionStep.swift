/// How a transaction begins, and how it ends well. Every transaction takes two of these, so that they stay prepared.
package enum TransactionStep: Int, CaseIterable {
    /// Without a lock: the first read fixes the version.
    case begin
    /// With the lock for writing.
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
