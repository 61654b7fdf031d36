/// Where a database is stored.
public enum RealmMemoryType: Hashable, Sendable {
    /// In a file.
    case inStorage
    /// In memory: it ends with its last Realm. In a process, databases with the same name and identifier are the same.
    case inMemory(identifier: String?)

    /// The identifier of an in-memory database; nil for one in a file.
    public var associated: String? {
        switch self {
        case .inStorage: nil
        case .inMemory(let identifier): identifier
        }
    }
}
