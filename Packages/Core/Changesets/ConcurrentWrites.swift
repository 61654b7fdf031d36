/// What the changelog says of one object, as far as one changeset has to know: what beats its writes, and what it comes on top
/// of. Made in one pass over the object's entries, however many instructions the changeset has on it.
struct ConcurrentWrites {
    /// Whether the object was erased, without the changeset's base seeing it.
    private(set) var isErased = false
    /// Columns that were set and aren't earlier than the changeset.
    private var beaten: Set<Int> = []
    /// By column, what was added and isn't earlier than the changeset.
    private var additions: [Int: Int64] = [:]
    /// Columns that last got a default that the device couldn't know of, earlier than the changeset.
    private var replaceable: Set<Int> = []

    /// Nobody else wrote the object.
    init() {}

    /// - Parameters:
    ///   - entries: the object's, oldest first.
    ///   - client: whose changeset it is.
    ///   - stamp: the changeset's.
    ///   - base: what its base tick sees.
    init(_ entries: [LogEntry], columnCount: Int, client: ClientID, stamp: Stamp, base: Snapshot) {
        for entry in entries {
            let isConcurrent = entry.client != client && !base.sees(entry.xid)
            let isLater = Self.isLater(client, stamp, than: entry)
            switch entry.operation {
            case .create:
                for column in 0..<columnCount { note(entry.marks[column] ?? .set, of: column, isConcurrent, isLater) }
            case .update:
                for (column, mark) in entry.marks { note(mark, of: column, isConcurrent, isLater) }
            case .erase:
                if isConcurrent { isErased = true }
            }
        }
    }

    /// Whether a client's changeset is later than an entry; of two with one stamp, plain SQL's is the later one.
    private static func isLater(_ client: ClientID, _ stamp: Stamp, than entry: LogEntry) -> Bool {
        guard stamp == entry.stamp else { return stamp > entry.stamp }
        guard let other = entry.client else { return false }
        return client > other
    }

    private mutating func note(_ mark: LogEntry.Mark, of column: Int, _ isConcurrent: Bool, _ isLater: Bool) {
        if isConcurrent, isLater, mark == .byDefault {
            replaceable.insert(column)
        } else {
            replaceable.remove(column)
        }
        guard isConcurrent, !isLater else { return }
        switch mark {
        case .set: beaten.insert(column)
        case .add(let amount): additions[column, default: 0] &+= amount
        case .byDefault: break
        }
    }

    /// Whether a set of the column that isn't earlier discards the changeset's set or addition.
    func beats(_ column: Int) -> Bool { beaten.contains(column) }

    /// What comes on top of a number that the changeset sets.
    func additions(to column: Int) -> Int64 { additions[column] ?? 0 }

    /// Whether the changeset's default may replace the column's value in an object that exists.
    func letsDefaultReplace(_ column: Int) -> Bool { replaceable.contains(column) }
}
