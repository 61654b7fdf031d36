/// Where a database is stored.
public enum RealmMemoryType: Hashable, Sendable {
    /// In a file.
    case inStorage
    /// In memory. The database exists until its last Realm is released. Within a process, the same name and identifier
    /// give the same database.
    case inMemory(identifier: String?)

    /// The identifier of an in-memory database, or nil for a database in a file.
    public var associated: String? {
        switch self {
        case .inStorage: nil
        case .inMemory(let identifier): identifier
        }
    }
}
