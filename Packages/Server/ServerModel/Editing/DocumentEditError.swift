/// Why an edit of documents wasn't planned, or not applied.
public enum DocumentEditError: Error, Hashable, Sendable {
    /// What is wrong with the documents, or can't follow those that the database has. Each names its place.
    case mistakes([String])
    /// The documents or the tables have changed since the plan was made.
    case stale
    /// Another migration is under way, or a table is in use for too long: the same may succeed later.
    case busy(String)
    /// The database user isn't one for this.
    case unsuitableUser(String)
    /// The database can't be reached.
    case unreachable(String)
    /// A step failed.
    case failed(String)

    /// Whether nothing was changed, whatever the plan. After a failed step, what was finished before an index stays.
    public var changedNothing: Bool {
        switch self {
        case .mistakes, .stale, .unsuitableUser, .unreachable: true
        case .busy, .failed: false
        }
    }
}
