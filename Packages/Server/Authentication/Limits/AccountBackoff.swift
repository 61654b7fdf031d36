internal import TomboloModel

/// Makes attempts at one account wait longer and longer, whatever addresses they come from, as a ``BackoffSchedule`` says: a value,
/// bounded, its owner holds the lock.
struct AccountBackoff: Sendable {
    private struct Entry {
        var attempts: Int
        /// The next attempt may begin then.
        var opensAt: Double
        var lastAt: Double
    }

    let backoff: BackoffSchedule
    let maximumCount: Int
    /// By e-mail: a text, since these are compared by their bytes.
    private var entries: [Value: Entry] = [:]

    init(_ backoff: BackoffSchedule, maximumCount: Int) {
        self.backoff = backoff
        self.maximumCount = maximumCount
    }

    var count: Int { entries.count }

    /// Counts an attempt.
    /// - Parameter now: in seconds, of any steady clock.
    /// - Returns: the seconds to wait, or nil if the attempt may go on.
    mutating func begin(_ email: String, now: Double) -> Int? {
        let email = Value.string(email)
        var entry = Entry(attempts: 0, opensAt: now, lastAt: now)
        if let known = entries[email], now - known.lastAt < backoff.memorySeconds {
            guard known.opensAt <= now else { return Int((known.opensAt - now).rounded(.up)) }
            entry = known
        } else if entries[email] == nil, entries.count >= maximumCount {
            makeRoom(now: now)
        }
        entry.attempts += 1
        entry.lastAt = now
        entry.opensAt = now + backoff.delay(after: entry.attempts)
        entries[email] = entry
        return nil
    }

    /// The attempt was none.
    mutating func giveBack(_ email: String) {
        let email = Value.string(email)
        guard var entry = entries[email] else { return }
        entry.attempts -= 1
        entry.opensAt = entry.lastAt
        entries[email] = entry.attempts > 0 ? entry : nil
    }

    mutating func forget(_ email: String) { entries[.string(email)] = nil }

    /// Forgets the accounts with the fewest attempts, a tenth at once, so that a flood of new ones does not sort the
    /// whole map each time.
    private mutating func makeRoom(now: Double) {
        entries = entries.filter { now - $0.value.lastAt < backoff.memorySeconds }
        guard entries.count >= maximumCount else { return }
        let fewest = entries.sorted { ($0.value.attempts, $0.value.lastAt) < ($1.value.attempts, $1.value.lastAt) }
        for (email, _) in fewest.prefix(max(1, maximumCount / 10)) { entries[email] = nil }
    }
}
