/// The newest ticks, each of which begins where the one before ends. Bounded by number and size.
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

    private let bounds: Bounds
    /// Oldest first.
    private var entries: [Entry] = []
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
            itemCount -= removed.itemCount
            byteCount -= removed.byteCount
        }
        return true
    }

    public mutating func clear() {
        entries = []
        itemCount = 0
        byteCount = 0
    }

    /// The ticks after one, oldest first; nil if the ring doesn't reach back to it.
    public func ticks(after number: Int64) -> [LiveTick]? {
        guard let first = entries.firstIndex(where: { $0.live.previous == number }) else { return nil }
        return entries[first...].map(\.live)
    }
}
