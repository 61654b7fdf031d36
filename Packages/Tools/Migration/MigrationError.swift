public import PostgresClient

/// Why a migration failed.
public enum MigrationError: Error, Sendable, CustomStringConvertible {
    /// Another run holds the lock. Includes the PostgreSQL backend that holds it, if it's visible.
    case alreadyRunning(processID: Int?)
    /// The database differs from the models in ways that only a person can resolve. Nothing was done.
    case notAdditive(problems: [String])
    /// A step failed. The transaction of a transactional step was rolled back. Any other step may leave an unusable
    /// index, which the next run removes. Earlier transactions of the run are recorded and stay.
    case stepFailed(name: String, error: PostgresError, isTransactional: Bool)
    /// Someone else added a document of the app after this run had read them. Nothing was done.
    case documentChanged(app: String)
    /// All steps ran, but something is still missing: a bug in this tool.
    case notSettled(steps: [String])

    /// Whether a retry without changes may succeed, because another process was in the way.
    public var isRetryable: Bool {
        switch self {
        case .alreadyRunning, .documentChanged: true
        case .stepFailed(_, let error, _): error.isRetryable
        case .notAdditive, .notSettled: false
        }
    }

    public var description: String {
        switch self {
        case .alreadyRunning(let processID):
            let who = processID.map { " (server process \($0))" } ?? ""
            return "Another migration of this database is running\(who): wait until it ends, then run this again."
        case .notAdditive(let problems):
            return "The database differs from the models in ways that can't be changed automatically:\n"
                + problems.map { "- \($0)" }.joined(separator: "\n")
        case .stepFailed(let name, let error, let isTransactional):
            let right =
                error.code == .insufficientPrivilege
                ? "\nConnect as the role that owns the database's tables." : ""
            let what =
                isTransactional
                ? "failed and was rolled back" : "failed; its leftovers will be removed when you apply this again"
            return "The step '\(name)' \(what): \(error)\(right)"
        case .documentChanged(let app):
            return "The documents of '\(app)' changed in the meantime: run this again."
        case .notSettled(let steps):
            return "All steps ran, but these would run again: \(steps.joined(separator: ", ")). Please report this."
        }
    }
}
