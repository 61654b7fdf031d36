/// Requests that wait to be written into a database, oldest first. Beyond the capacity, requests are counted and
/// dropped: a slow or unreachable database costs log entries, but no memory, and it delays no request.
struct RequestQueue: Sendable {
    private let capacity: Int
    private var entries: [RequestLog.Entry] = []
    /// How many requests were dropped, because there was no room or they couldn't be written.
    private(set) var droppedCount = 0

    /// - Parameter capacity: 0 if nothing empties the queue: it then takes and counts nothing.
    init(capacity: Int) { self.capacity = capacity }

    mutating func append(_ entry: RequestLog.Entry) {
        guard entries.count < capacity else {
            if capacity > 0 { droppedCount += 1 }
            return
        }
        entries.append(entry)
    }

    /// Removes up to `count` requests.
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
