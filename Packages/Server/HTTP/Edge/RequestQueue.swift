/// Requests that wait to be written into a database, the oldest first. Beyond its capacity, further ones are counted and
/// forgotten: a database that is slow or down costs lines of the log, but neither memory nor anybody's time.
struct RequestQueue: Sendable {
    private let capacity: Int
    private var entries: [RequestLog.Entry] = []
    /// Requests that are forgotten, since there was no room or they couldn't be written.
    private(set) var droppedCount = 0

    /// - Parameter capacity: 0 for a queue that nobody empties: it takes nothing, and counts nothing.
    init(capacity: Int) { self.capacity = capacity }

    mutating func append(_ entry: RequestLog.Entry) {
        guard entries.count < capacity else {
            if capacity > 0 { droppedCount += 1 }
            return
        }
        entries.append(entry)
    }

    /// Takes up to so many out.
    mutating func take(_ count: Int) -> [RequestLog.Entry] {
        guard entries.count > count else {
            defer { entries = [] }
            return entries
        }
        defer { entries.removeFirst(count) }
        return Array(entries.prefix(count))
    }

    mutating func giveUp(_ count: Int) { droppedCount += count }
}
