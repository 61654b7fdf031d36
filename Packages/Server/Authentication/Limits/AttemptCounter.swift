/// Counts attempts by a key within a window of time, bounded. What has reached the limit is never forgotten before its
/// window ends: new keys are refused instead.
struct AttemptCounter<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        var attempts: Int
        var endsAt: Double
    }

    let attempts: Int
    let windowSeconds: Double
    let maximumCount: Int
    private var entries: [Key: Entry] = [:]

    init(attempts: Int, windowSeconds: Double, maximumCount: Int) {
        self.attempts = attempts
        self.windowSeconds = windowSeconds
        self.maximumCount = maximumCount
    }

    var count: Int { entries.count }

    /// Counts an attempt.
    /// - Parameter now: in seconds, of any steady clock.
    /// - Returns: the seconds to wait, or nil where the attempt may go on.
    mutating func begin(_ key: Key, now: Double) -> Int? {
        if let entry = entries[key], entry.endsAt > now {
            guard entry.attempts < attempts else { return Self.seconds(until: entry.endsAt, now) }
            entries[key]?.attempts += 1
            return nil
        }
        if entries[key] == nil, entries.count >= maximumCount, let end = makeRoom(now: now) {
            return Self.seconds(until: end, now)
        }
        entries[key] = Entry(attempts: 1, endsAt: now + windowSeconds)
        return nil
    }

    /// The attempt was none.
    mutating func giveBack(_ key: Key) {
        guard let entry = entries[key] else { return }
        if entry.attempts > 1 { entries[key]?.attempts -= 1 } else { entries[key] = nil }
    }

    mutating func forget(_ key: Key) { entries[key] = nil }

    private static func seconds(until end: Double, _ now: Double) -> Int { Int((end - now).rounded(.up)) }

    /// Forgets those with the fewest attempts, of these those that end first.
    /// - Returns: nil, or when the first window ends where nothing may be forgotten.
    private mutating func makeRoom(now: Double) -> Double? {
        entries = entries.filter { $0.value.endsAt > now }
        guard entries.count >= maximumCount else { return nil }
        let open = entries.filter { $0.value.attempts < attempts }
            .sorted { ($0.value.attempts, $0.value.endsAt) < ($1.value.attempts, $1.value.endsAt) }
        guard !open.isEmpty else { return entries.values.map(\.endsAt).min() }
        // A tenth at once, so that a flood of new keys does not sort the whole map each time.
        for (key, _) in open.prefix(max(1, maximumCount / 10)) { entries[key] = nil }
        return nil
    }
}
