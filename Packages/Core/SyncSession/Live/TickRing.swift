internal import DequeModule
public import TomboloChangesets
public import TomboloModel
internal import TomboloSyncProtocol

/// The newest ticks, each of which begins where the one before ends. Bounded by number and size.
///
/// A device that comes back asks for what it missed, which is next to nothing of what happened. It finds the ticks that may
/// concern it by the values that its predicates look for, without looking at the others.
public struct TickRing: Sendable {
    /// How much is kept.
    public struct Bounds: Sendable {
        public var tickCount: Int
        /// Changes and refusals, over all ticks.
        public var itemCount: Int
        /// Rough size, over all ticks, in bytes.
        public var byteCount: Int

        public init(tickCount: Int, itemCount: Int, byteCount: Int) {
            self.tickCount = tickCount
            self.itemCount = itemCount
            self.byteCount = byteCount
        }
    }

    private struct Entry {
        let live: LiveTick
        let itemCount: Int
        let byteCount: Int
    }

    private struct ColumnPlace: Hashable {
        let classIndex: Int
        let column: Int
    }

    private let bounds: Bounds
    /// Oldest first.
    private var entries: Deque<Entry> = []
    /// The place of the oldest entry; places count all ticks that were ever added.
    private var firstPlace = 0
    /// Of the columns that somebody asked about lately.
    private var values: [ColumnPlace: TickHistory<Value>] = [:]
    private var clients = TickHistory<ClientID>()
    /// Changes and refusals that are kept.
    public private(set) var itemCount = 0
    /// Roughly what is kept, in bytes.
    public private(set) var byteCount = 0

    /// Ticks that are kept.
    public var tickCount: Int { entries.count }

    public init(bounds: Bounds) { self.bounds = bounds }

    /// Adds the tick that follows the newest.
    /// - Returns: false for a tick that is too large to keep: nothing is left then.
    public mutating func append(_ live: LiveTick) -> Bool {
        let entry = Entry(live: live, itemCount: live.itemCount, byteCount: live.byteCount)
        guard entry.itemCount <= bounds.itemCount, entry.byteCount <= bounds.byteCount else {
            clear()
            return false
        }
        entries.append(entry)
        itemCount += entry.itemCount
        byteCount += entry.byteCount
        while entries.count > bounds.tickCount || itemCount > bounds.itemCount || byteCount > bounds.byteCount {
            let removed = entries.removeFirst()
            firstPlace += 1
            itemCount -= removed.itemCount
            byteCount -= removed.byteCount
        }
        forgetHistories()
        return true
    }

    public mutating func clear() {
        firstPlace += entries.count
        entries = []
        itemCount = 0
        byteCount = 0
        forgetHistories()
    }

    /// Nobody has asked about them since all of their ticks left.
    private mutating func forgetHistories() {
        if clients.places.upperBound <= firstPlace { clients = TickHistory() }
        for (column, history) in values where history.places.upperBound <= firstPlace { values[column] = nil }
    }

    /// The ticks after one that may concern a view or a client, oldest first.
    /// - Parameter limit: the most ticks to return.
    /// - Returns: nil if the ring doesn't reach back so far, or for more than `limit`.
    public mutating func ticks(
        after number: Int64, thatMayConcern view: LiveView, _ client: ClientID, in schema: Schema, limit: Int
    ) -> [LiveTick]? {
        guard let first = index(after: number) else { return nil }
        var indices = Array(first..<entries.count)
        if indices.count > Self.lookUpThreshold, let found = places(from: firstPlace + first, view, client, schema) {
            indices = Set(found).sorted().map { $0 - firstPlace }
        }
        guard indices.count <= limit else { return nil }
        return indices.map { entries[$0].live }
    }

    /// So few ticks are matched sooner than looked up.
    private static let lookUpThreshold = 8

    /// The index of the tick that begins where another ends.
    private func index(after number: Int64) -> Int? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].live.previous < number { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].live.previous == number ? low : nil
    }

    /// The places of ticks that may concern a view or a client, in any order, with repeats; nil if the view looks for more
    /// than single values.
    private mutating func places(from first: Int, _ view: LiveView, _ client: ClientID, _ schema: Schema) -> [Int]? {
        var wanted: [(column: ColumnPlace, value: Value)] = []
        for (classIndex, predicate) in view.visibility.predicates {
            guard let cover = Cover(of: predicate, in: schema[classIndex]) else { return nil }
            for access in cover.accesses {
                guard case .value(let value, let column) = access else { return nil }
                wanted.append((ColumnPlace(classIndex: classIndex, column: column), value))
            }
        }
        let ring = firstPlace..<(firstPlace + entries.count)
        var found: [Int] = []
        enterClients(ring)
        clients.append(client, from: first, to: &found)
        for (column, value) in wanted {
            enterValues(ring, column)
            values[column]?.append(value, from: first, to: &found)
        }
        return found
    }

    private mutating func enterClients(_ ring: Range<Int>) {
        guard clients.places.upperBound != ring.upperBound else { return }
        // Moved out, so that there is one reference to change; below too.
        var history = clients
        clients = TickHistory()
        history.enter(ring) { place, enter in
            for client in entries[place - ring.lowerBound].live.progress.keys { enter(client) }
        }
        clients = history
    }

    private mutating func enterValues(_ ring: Range<Int>, _ column: ColumnPlace) {
        guard values[column]?.places.upperBound != ring.upperBound else { return }
        var history = values.removeValue(forKey: column) ?? TickHistory()
        history.enter(ring) { place, enter in
            for change in entries[place - ring.lowerBound].live.difference.changes
            where change.reference.classIndex == column.classIndex {
                if let old = change.old { enter(old[column.column]) }
                if let new = change.new { enter(new[column.column]) }
            }
        }
        values[column] = history
    }
}
