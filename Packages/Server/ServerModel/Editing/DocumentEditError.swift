/// Why an edit of documents couldn't be planned or applied.
public enum DocumentEditError: Error, Hashable, Sendable {
    /// The documents have mistakes, or can't follow those in the database. Each message says where.
    case mistakes([String])
    /// The documents or the tables have changed since the plan was made.
    case stale
    /// Another migration is running, or a table has been in use for too long. A retry may succeed.
    case busy(String)
    /// The database user isn't suited for edits.
    case unsuitableUser(String)
    /// The database can't be reached.
    case unreachable(String)
    /// A step failed.
    case failed(String)

    /// Whether it's certain that nothing was changed, whatever the plan. If a step fails, everything that was
    /// finished before an index stays.
    public var changedNothing: Bool {
        switch self {
        case .mistakes, .stale, .unsuitableUser, .unreachable: true
        case .busy, .failed: false
        }
    }
}
