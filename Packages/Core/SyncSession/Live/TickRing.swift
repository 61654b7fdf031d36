internal import DequeModule
public import TomboloChangesets
public import TomboloModel
internal import TomboloSyncProtocol

/// The newest ticks, each of which begins where the previous one ends. Bounded by number and size.
///
/// A device that returns asks for what it missed, which is usually a tiny part of what happened. The ring finds the
/// ticks that may concern the device by the values in its predicates, without looking at the other ticks.
public struct TickRing: Sendable {
    /// The limits of a ring.
    public struct Bounds: Sendable {
        public var tickCount: Int
        /// The maximum number of changes and refusals in all ticks together.
        public var itemCount: Int
        /// The maximum approximate size of all ticks together, in bytes.
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
    /// The ticks, oldest first.
    private var entries: Deque<Entry> = []
    /// The place of the oldest entry. Places count all ticks that were ever added.
    private var firstPlace = 0
    /// Histories for the columns that were recently looked up.
    private var values: [ColumnPlace: TickHistory<Value>] = [:]
    private var clients = TickHistory<ClientID>()
    /// The number of changes and refusals in the ring.
    public private(set) var itemCount = 0
    /// The approximate size of the ring in bytes.
    public private(set) var byteCount = 0

    /// The number of ticks in the ring.
    public var tickCount: Int { entries.count }

    public init(bounds: Bounds) { self.bounds = bounds }

    /// Adds the tick that follows the newest one.
    /// - Returns: false if the tick is too large to keep. The ring is then empty.
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

    /// Drops histories whose ticks have all left the ring since they were last used.
    private mutating func forgetHistories() {
        if clients.places.upperBound <= firstPlace { clients = TickHistory() }
        for (column, history) in values where history.places.upperBound <= firstPlace { values[column] = nil }
    }

    /// The ticks after `number` that may concern a view or a client, oldest first.
    /// - Parameter limit: the maximum number of ticks to return.
    /// - Returns: nil if the ring doesn't reach back that far, or if there are more than `limit` ticks.
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

    /// Up to this number, matching the ticks is faster than looking them up.
    private static let lookUpThreshold = 8

    /// The index of the tick whose difference starts at the tick with this number.
    private func index(after number: Int64) -> Int? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].live.previous < number { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].live.previous == number ? low : nil
    }

    /// The places of ticks that may concern a view or a client, in any order and with repeats. Nil if the view looks
    /// for anything other than single values.
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
        // Moved out of the property, so that the reference is unique and a change copies nothing; the same below.
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
