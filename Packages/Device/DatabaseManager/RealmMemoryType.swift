/// Where a database is kept.
public enum RealmMemoryType: Hashable, Sendable {
    /// In a file.
    case inStorage
    /// Nowhere: it ends with its last Realm. The databases of one name and one identifier in a process are the same.
    case inMemory(identifier: String?)

    /// The identifier in memory.
    public var associated: String? {
        switch self {
        case .inStorage: nil
        case .inMemory(let identifier): identifier
        }
    }
}
