/// What one changeset has to know of an object's changelog: the writes that beat its own, and the additions that apply
/// on top of them. Made in one pass over the object's entries, however many instructions the changeset has on it.
struct ConcurrentWrites {
    /// Whether the object was erased concurrently, that is, without the changeset's base seeing the erase.
    private(set) var isErased = false
    /// Columns with a concurrent set that isn't earlier than the changeset.
    private var beaten: Set<Int> = []
    /// By column, the sum of concurrent additions that aren't earlier than the changeset.
    private var additions: [Int: Int64] = [:]
    /// Columns whose last write is a concurrent default, earlier than the changeset.
    private var replaceable: Set<Int> = []

    /// The result when nobody else wrote the object.
    init() {}

    /// - Parameters:
    ///   - entries: the object's changelog entries, oldest first.
    ///   - client: the client that made the changeset.
    ///   - stamp: the changeset's stamp.
    ///   - base: the transactions that its base tick contains.
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

    /// Whether a client's changeset is later than an entry. On equal stamps plain SQL counts as later.
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

    /// Whether a concurrent set that isn't earlier discards the changeset's set or addition to this column.
    func beats(_ column: Int) -> Bool { beaten.contains(column) }

    /// The amount to add to a number that the changeset sets.
    func additions(to column: Int) -> Int64 { additions[column] ?? 0 }

    /// Whether the changeset's default may replace the column's value in an object that exists.
    func letsDefaultReplace(_ column: Int) -> Bool { replaceable.contains(column) }
}
