/// Requests that wait for a connection of a pool. Places take turns; within a place, its users take turns; a user's
/// requests at a place are served in order. Part of ``PostgresPoolState``.
///
/// Every operation takes constant time, except for skipping borrowers who may not have another connection. Each of
/// them holds at least one, so there are no more of them than connections; only a user who waits at many places is
/// skipped at each.
struct PostgresWaitingList<Request> {
    struct Entry {
        let id: UInt64
        let borrower: PostgresBorrower?
        let deadline: ContinuousClock.Instant
        let request: Request
    }

    private struct Place {
        /// In order; the first is next.
        var users = LinkedQueue<String>()
        /// By user.
        var requests: [String: LinkedQueue<UInt64>] = [:]
    }

    private var entries: [UInt64: Entry] = [:]
    private var arrivals = LinkedQueue<UInt64>()
    private var places: [String: Place] = [:]
    /// In order; the first is next.
    private var turns = LinkedQueue<String>()
    private var counts: [String: Int] = [:]

    var count: Int { entries.count }

    /// The number of waiting requests of a user.
    func count(of borrower: PostgresBorrower?) -> Int { counts[Self.user(borrower)] ?? 0 }

    /// The time at which the oldest request gives up.
    var nextDeadline: ContinuousClock.Instant? { arrivals.first.flatMap { entries[$0]?.deadline } }

    /// All requests, oldest first.
    var all: [Request] { arrivals.compactMap { entries[$0]?.request } }

    mutating func append(_ entry: Entry) {
        let (place, user) = (Self.place(entry.borrower), Self.user(entry.borrower))
        entries[entry.id] = entry
        arrivals.append(entry.id)
        counts[user, default: 0] += 1
        turns.append(place)
        places[place, default: Place()].users.append(user)
        places[place]?.requests[user, default: LinkedQueue()].append(entry.id)
    }

    /// Removes a request before its turn.
    @discardableResult
    mutating func remove(_ id: UInt64) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        let (place, user) = (Self.place(entry.borrower), Self.user(entry.borrower))
        arrivals.remove(id)
        let left = (counts[user] ?? 0) - 1
        counts[user] = left > 0 ? left : nil
        places[place]?.requests[user]?.remove(id)
        guard places[place]?.requests[user]?.isEmpty == true else { return entry }
        places[place]?.requests[user] = nil
        places[place]?.users.remove(user)
        guard places[place]?.users.isEmpty == true else { return entry }
        places[place] = nil
        turns.remove(place)
        return entry
    }

    /// Removes and returns the request whose turn it is, among those that may have a connection.
    mutating func next(_ shares: PostgresShares, free: Int) -> Entry? {
        guard let id = turn(shares, free: free), let entry = remove(id) else { return nil }
        let place = Self.place(entry.borrower)
        places[place]?.users.moveToEnd(Self.user(entry.borrower))
        turns.moveToEnd(place)
        return entry
    }

    private func turn(_ shares: PostgresShares, free: Int) -> UInt64? {
        guard free > 0 else { return nil }
        for place in turns where shares.allows(place: place, free: free) {
            guard let waiting = places[place] else { continue }
            for user in waiting.users where shares.allows(user: user, free: free) {
                if let id = waiting.requests[user]?.first { return id }
            }
        }
        return nil
    }

    /// Removes and returns the requests whose time is up. Deadlines are in order of arrival.
    mutating func expire(now: ContinuousClock.Instant) -> [Request] {
        var expired: [Request] = []
        while let id = arrivals.first, let deadline = entries[id]?.deadline, deadline <= now {
            if let entry = remove(id) { expired.append(entry.request) }
        }
        return expired
    }

    /// The server's own work takes turns alongside the places. Users and addresses contain no spaces, so this name
    /// can't clash with theirs.
    private static var server: String { "the server" }

    private static func place(_ borrower: PostgresBorrower?) -> String { borrower?.place ?? server }

    private static func user(_ borrower: PostgresBorrower?) -> String { borrower?.holder ?? server }
}
