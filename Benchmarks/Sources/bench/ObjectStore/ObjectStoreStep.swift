import ArgumentParser

/// The measured operations of the object store.
enum ObjectStoreStep: String, CaseIterable, ExpressibleByArgument, Sendable {
    case insert
    case insertSynced = "insert-synced"
    case transactions
    case count
    case read
    case lookUp = "look-up"
    case update
    case delete
    case sort
    case open
    case memory
    case allocations
    case notifications

    /// The most time that Tombolo may take, as a multiple of SQLite's.
    var allowedRatio: Double? {
        switch self {
        case .insert: 2.5
        case .insertSynced: 4
        case .transactions: 2
        case .count: 1.3
        case .read: 4
        case .lookUp: 3
        case .update: 3
        case .delete: 2
        case .sort, .open, .memory, .allocations, .notifications: nil
        }
    }

    enum Content { case nothing, people, manyPeople }

    /// The initial content of the file.
    var content: Content {
        switch self {
        case .insert, .insertSynced, .transactions: .nothing
        case .count, .read, .lookUp, .update, .delete, .sort, .allocations, .notifications: .people
        case .open, .memory: .manyPeople
        }
    }

    /// The most milliseconds that Tombolo may take.
    static let allowedOpenMilliseconds = 20.0
    /// The most megabytes above the process's memory before.
    static let allowedMemoryMegabytes = 32.0
    /// The most milliseconds from the end of a write to the observer's call.
    static let allowedNotificationMilliseconds = 5.0
    /// Deletions remove a fifth of the people at a time.
    static let fifth = PersonValues.ageCount / 5
    static let firstCount = 100

    func title(_ sizes: Sizes.ObjectStore) -> String {
        let objects = Table.number(Double(sizes.objectCount))
        let many = Table.number(Double(sizes.largeObjectCount))
        return switch self {
        case .insert: "insert \(objects) in a transaction"
        case .insertSynced: "insert \(objects) in a transaction, with upload queue"
        case .transactions: "\(Table.number(Double(sizes.transactionCount))) transactions of one insert"
        case .count: "count of \(objects) with a condition, no index"
        case .read: "read two properties of \(objects)"
        case .lookUp: "\(Table.number(Double(sizes.lookUpCount))) look-ups by key"
        case .update: "update \(objects) one by one in a transaction"
        case .delete: "delete a fifth of \(objects) by a condition"
        case .sort: "sort \(objects), no index, read the first \(Self.firstCount)"
        case .open: "open a file of \(many)"
        case .memory: "memory while going over \(many)"
        case .allocations: "allocations"
        case .notifications: "listener to \(objects), filtered and sorted"
        }
    }
}
