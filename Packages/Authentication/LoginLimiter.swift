/// Counts failed logins by e-mail and address, in memory and bounded: a value, its owner holds the lock.
///
/// Each pair has ``Limit/failures`` attempts that may fail within ``Limit/windowSeconds``; an attempt counts when it
/// begins, so that many at once are limited too, and is taken back when it succeeds.
struct LoginLimiter: Sendable {
    struct Limit: Sendable {
        var failures = Authenticator.maximumFailedLogins
        var windowSeconds = Authenticator.failedLoginWindowSeconds
        /// Pairs that are remembered; beyond that the one that ends first is forgotten.
        var entries = Authenticator.maximumRememberedLogins
    }

    private struct Entry {
        var failures: Int
        var endsAt: Double
    }

    struct Key: Hashable, Sendable {
        let email: String
        let address: String
    }

    private let limit: Limit
    private var entries: [Key: Entry] = [:]

    init(_ limit: Limit = Limit()) { self.limit = limit }

    var count: Int { entries.count }

    /// Begins an attempt.
    /// - Parameter now: in seconds, of any steady clock.
    /// - Returns: the seconds to wait, or nil where the attempt may go on.
    mutating func begin(_ key: Key, now: Double) -> Int? {
        if let entry = entries[key], entry.endsAt > now {
            guard entry.failures < limit.failures else { return Int((entry.endsAt - now).rounded(.up)) }
            entries[key]?.failures += 1
            return nil
        }
        if entries[key] == nil, entries.count >= limit.entries { makeRoom(now: now) }
        entries[key] = Entry(failures: 1, endsAt: now + limit.windowSeconds)
        return nil
    }

    /// The attempt succeeded: its failures are forgotten.
    mutating func succeed(_ key: Key) { entries[key] = nil }

    private mutating func makeRoom(now: Double) {
        entries = entries.filter { $0.value.endsAt > now }
        // A tenth at once, so that a flood of new pairs does not sort the whole map each time.
        guard entries.count >= limit.entries else { return }
        let ending = entries.sorted { $0.value.endsAt < $1.value.endsAt }
        for (key, _) in ending.prefix(max(1, limit.entries / 10)) { entries[key] = nil }
    }
}
