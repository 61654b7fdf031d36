/// Requests that wait for a connection of a pool. Places take turns, then the users of a place, and a user's requests there
/// come in order. A value of ``PostgresPoolState``.
///
/// Everything takes constant time, but for passing over those who may not have another connection. They all hold some, so
/// that they are no more than the pool has connections; only a user who waits at many places is passed over at each.
struct PostgresWaitingList<Request> {
    struct Entry {
        let id: UInt64
        let borrower: PostgresBorrower?
        let deadline: ContinuousClock.Instant
        let request: Request
    }

    private struct Place {
        /// The next first.
        var users = LinkedQueue<String>()
        /// By user.
        var requests: [String: LinkedQueue<UInt64>] = [:]
    }

    private var entries: [UInt64: Entry] = [:]
    private var arrivals = LinkedQueue<UInt64>()
    private var places: [String: Place] = [:]
    /// The next first.
    private var turns = LinkedQueue<String>()
    private var counts: [String: Int] = [:]

    var count: Int { entries.count }

    /// How many requests of a user wait.
    func count(of borrower: PostgresBorrower?) -> Int { counts[Self.user(borrower)] ?? 0 }

    /// When the oldest request gives up.
    var nextDeadline: ContinuousClock.Instant? { arrivals.first.flatMap { entries[$0]?.deadline } }

    /// All of them, oldest first.
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

    /// Takes a request out before its turn.
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

    /// Takes the request whose turn it is, of those who may have a connection.
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

    /// Takes out the requests whose time is over. They come in the order of their deadlines.
    mutating func expire(now: ContinuousClock.Instant) -> [Request] {
        var expired: [Request] = []
        while let id = arrivals.first, let deadline = entries[id]?.deadline, deadline <= now {
            if let entry = remove(id) { expired.append(entry.request) }
        }
        return expired
    }

    /// The server's own work has a turn beside those of places. Users and addresses have no blanks.
    private static var server: String { "the server" }

    private static func place(_ borrower: PostgresBorrower?) -> String { borrower?.place ?? server }

    private static func user(_ borrower: PostgresBorrower?) -> String { borrower?.holder ?? server }
}
