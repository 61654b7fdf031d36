internal import TomboloModel

/// Makes attempts at one account wait longer and longer, whatever addresses they come from, following a
/// ``BackoffSchedule``. It's a bounded value, whose owner holds the lock.
struct AccountBackoff: Sendable {
    private struct Entry {
        var attempts: Int
        /// When the next attempt may begin.
        var opensAt: Double
        var lastAt: Double
    }

    let backoff: BackoffSchedule
    let maximumCount: Int
    /// By e-mail address, or by user for codes. The keys are string values, since those are compared by their bytes.
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

    /// Takes back an attempt that wasn't made after all.
    mutating func giveBack(_ email: String) {
        let email = Value.string(email)
        guard var entry = entries[email] else { return }
        entry.attempts -= 1
        entry.opensAt = entry.lastAt
        entries[email] = entry.attempts > 0 ? entry : nil
    }

    mutating func forget(_ email: String) { entries[.string(email)] = nil }

    /// Forgets the accounts with the fewest attempts. It drops a tenth at once, so that a flood of new ones doesn't
    /// sort the whole map each time.
    private mutating func makeRoom(now: Double) {
        entries = entries.filter { now - $0.value.lastAt < backoff.memorySeconds }
        guard entries.count >= maximumCount else { return }
        let fewest = entries.sorted { ($0.value.attempts, $0.value.lastAt) < ($1.value.attempts, $1.value.lastAt) }
        for (email, _) in fewest.prefix(max(1, maximumCount / 10)) { entries[email] = nil }
    }
}
