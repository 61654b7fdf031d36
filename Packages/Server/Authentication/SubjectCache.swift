import TomboloModel

/// Subjects as the database had them a moment ago: a value, its owner holds the lock.
struct SubjectCache: Sendable {
    private struct Entry {
        let subject: KnownSubject
        let readAt: Double
    }

    let maximumCount: Int
    let lifetimeSeconds: Double
    private var entries: [ObjectId: Entry] = [:]

    init(maximumCount: Int, lifetimeSeconds: Double) {
        self.maximumCount = maximumCount
        self.lifetimeSeconds = lifetimeSeconds
    }

    var count: Int { entries.count }

    /// - Parameter now: in seconds, of a steady clock.
    func subject(_ userID: ObjectId, now: Double) -> KnownSubject? {
        guard let entry = entries[userID], now - entry.readAt < lifetimeSeconds else { return nil }
        return entry.subject
    }

    /// - Parameter readAt: the time before the database was asked.
    mutating func insert(_ subject: KnownSubject, _ userID: ObjectId, readAt: Double) {
        if entries[userID] == nil, entries.count >= maximumCount {
            entries = entries.filter { readAt - $0.value.readAt < lifetimeSeconds }
            if entries.count >= maximumCount { entries.removeAll(keepingCapacity: true) }
        }
        entries[userID] = Entry(subject: subject, readAt: readAt)
    }

    mutating func remove(_ userID: ObjectId) { entries[userID] = nil }

    mutating func removeAll() { entries.removeAll() }
}
