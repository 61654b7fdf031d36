/// A ring buffer of the latest entries.
struct RecentEntries: Sendable {
    private let capacity: Int
    private var entries: [RequestLog.Entry] = []
    /// Where the next entry goes, once the ring is full.
    private var next = 0

    init(capacity: Int) { self.capacity = capacity }

    mutating func append(_ entry: RequestLog.Entry) {
        guard entries.count == capacity else { return entries.append(entry) }
        entries[next] = entry
        next = (next + 1) % capacity
    }

    var newestFirst: [RequestLog.Entry] { (entries[next...] + entries[..<next]).reversed() }
}
