import TomboloModel

/// Accounts as the database had them a moment ago. It's a value, whose owner holds the lock.
struct AccountCache: Sendable {
    private struct Entry {
        let account: KnownAccount
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
    func account(_ userID: ObjectId, now: Double) -> KnownAccount? {
        guard let entry = entries[userID], now - entry.readAt < lifetimeSeconds else { return nil }
        return entry.account
    }

    /// - Parameter readAt: the time before the database was asked.
    mutating func insert(_ account: KnownAccount, readAt: Double) {
        if entries[account.userID] == nil, entries.count >= maximumCount {
            entries = entries.filter { readAt - $0.value.readAt < lifetimeSeconds }
            if entries.count >= maximumCount { entries.removeAll(keepingCapacity: true) }
        }
        entries[account.userID] = Entry(account: account, readAt: readAt)
    }

    mutating func remove(_ userID: ObjectId) { entries[userID] = nil }

    mutating func removeAll() { entries.removeAll() }
}
