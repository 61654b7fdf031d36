/// Which requests wait for a batch and which are in one: pure bookkeeping under the lock of ``Batches``. It runs and
/// resumes nothing itself.
struct BatchQueue<Item, Key: Hashable, Waiter> {
    /// What is to be run.
    struct Batch {
        let number: UInt64
        let items: [Item]
    }

    /// What came of a request that was given up.
    enum Removal {
        case notFound
        case removed(Waiter)
        /// Nobody is left who waits for the batch.
        case emptied(Waiter, work: Task<Void, Never>?)
    }

    private struct Running {
        let keys: Set<Key>
        var waiters: [(id: UInt64, waiter: Waiter?)]
        var work: Task<Void, Never>?
    }

    let bounds: BatchBounds
    private let key: (Item) -> Key?
    private var lastID: UInt64 = 0
    /// In order of arrival.
    private var waiting: [(id: UInt64, item: Item, waiter: Waiter)] = []
    private var running: [UInt64: Running] = [:]

    /// - Parameter key: what only one batch at a time may be about; nil for an item that gets in nobody's way.
    init(_ bounds: BatchBounds, key: @escaping (Item) -> Key?) {
        self.bounds = bounds
        self.key = key
    }

    var waitingCount: Int { waiting.count }

    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// - Returns: false where too many wait.
    mutating func add(_ item: Item, id: UInt64, _ waiter: Waiter) -> Bool {
        guard waiting.count < bounds.waiting else { return false }
        waiting.append((id, item, waiter))
        return true
    }

    /// The next batch to run, if there is one and it may begin.
    mutating func next() -> Batch? {
        guard !waiting.isEmpty, running.count < bounds.concurrency else { return nil }
        let busy = running.values.reduce(into: Set<Key>()) { $0.formUnion($1.keys) }
        var taken: [(id: UInt64, item: Item, waiter: Waiter)] = []
        var left: [(id: UInt64, item: Item, waiter: Waiter)] = []
        var keys: Set<Key> = []
        for entry in waiting {
            let key = key(entry.item)
            if taken.count == bounds.size || key.map(busy.contains) == true {
                left.append(entry)
            } else {
                taken.append(entry)
                if let key { keys.insert(key) }
            }
        }
        guard !taken.isEmpty else { return nil }
        waiting = left
        let number = makeID()
        running[number] = Running(keys: keys, waiters: taken.map { ($0.id, $0.waiter) })
        return Batch(number: number, items: taken.map(\.item))
    }

    /// - Returns: whether the batch goes on: false if all its requests were given up already.
    mutating func started(_ number: UInt64, _ work: Task<Void, Never>) -> Bool {
        running[number]?.work = work
        return running[number]?.waiters.contains { $0.waiter != nil } ?? true
    }

    /// - Returns: who waits for each of the batch's items, as far as they still do.
    mutating func ended(_ number: UInt64) -> [Waiter?] {
        running.removeValue(forKey: number)?.waiters.map(\.waiter) ?? []
    }

    mutating func remove(_ id: UInt64) -> Removal {
        if let place = waiting.firstIndex(where: { $0.id == id }) { return .removed(waiting.remove(at: place).waiter) }
        for (number, batch) in running {
            guard let place = batch.waiters.firstIndex(where: { $0.id == id }) else { continue }
            guard let waiter = batch.waiters[place].waiter else { return .notFound }
            running[number]?.waiters[place].waiter = nil
            let isEmpty = running[number]?.waiters.allSatisfy { $0.waiter == nil } ?? true
            return isEmpty ? .emptied(waiter, work: batch.work) : .removed(waiter)
        }
        return .notFound
    }
}
