/// Counts attempts by key within a time window. It's a bounded value, whose owner holds the lock.
///
/// When the table is full, the keys with the fewest attempts are forgotten, but never one that has reached the limit: a
/// flood of other keys doesn't unblock it. If every key has reached the limit, a new key isn't counted until the first
/// window ends. Refusing it instead would let an attacker with that many keys lock everybody out.
struct AttemptCounter<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        var attempts: Int
        var endsAt: Double
    }

    let attempts: Int
    let windowSeconds: Double
    let maximumCount: Int
    private var entries: [Key: Entry] = [:]
    /// Nothing can be forgotten before this time, so that in a flood not every new key searches the whole map.
    private var fullUntil: Double?

    init(attempts: Int, windowSeconds: Double, maximumCount: Int) {
        self.attempts = attempts
        self.windowSeconds = windowSeconds
        self.maximumCount = maximumCount
    }

    var count: Int { entries.count }

    /// Counts an attempt.
    /// - Parameter now: in seconds, of any steady clock.
    /// - Returns: the seconds to wait, or nil if the attempt may go on.
    mutating func begin(_ key: Key, now: Double) -> Int? {
        if let entry = entries[key], entry.endsAt > now {
            guard entry.attempts < attempts else { return Self.seconds(until: entry.endsAt, now) }
            entries[key]?.attempts += 1
            return nil
        }
        if entries[key] == nil, entries.count >= maximumCount, !makeRoom(now: now) { return nil }
        entries[key] = Entry(attempts: 1, endsAt: now + windowSeconds)
        return nil
    }

    /// Takes back an attempt that wasn't made after all.
    mutating func giveBack(_ key: Key) {
        guard let entry = entries[key] else { return }
        fullUntil = nil
        if entry.attempts > 1 { entries[key]?.attempts -= 1 } else { entries[key] = nil }
    }

    mutating func forget(_ key: Key) { entries[key] = nil }

    private static func seconds(until end: Double, _ now: Double) -> Int { Int((end - now).rounded(.up)) }

    /// Forgets the keys with the fewest attempts, and among these the ones whose windows end first.
    /// - Returns: false if none may be forgotten.
    private mutating func makeRoom(now: Double) -> Bool {
        if let fullUntil, fullUntil > now { return false }
        entries = entries.filter { $0.value.endsAt > now }
        guard entries.count >= maximumCount else { return true }
        let open = entries.filter { $0.value.attempts < attempts }
            .sorted { ($0.value.attempts, $0.value.endsAt) < ($1.value.attempts, $1.value.endsAt) }
        guard !open.isEmpty else {
            fullUntil = entries.values.map(\.endsAt).min()
            return false
        }
        // A tenth at once, so that a flood of new keys doesn't sort the whole map each time.
        for (key, _) in open.prefix(max(1, maximumCount / 10)) { entries[key] = nil }
        return true
    }
}
