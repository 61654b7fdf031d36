/// How many connections are held for whom, and who may have another. A value of ``PostgresPoolState``.
///
/// Of connections beyond its first, a user takes no more than it leaves free, and a place no more than three times as many. So a
/// user alone has half of them, a place alone three quarters, and the last free one is only for somebody who holds none, at
/// a place that holds none. What is left free whoever asks, and why: docs/adr/0063. The server itself has no limit.
struct PostgresShares {
    /// For each connection that is left free, how many a user takes beyond the first; and all of a place.
    static let perFree = (user: 1, place: 3)

    private var users: [String: Int] = [:]
    private var places: [String: Int] = [:]

    /// - Parameter free: how many connections nobody holds.
    func allows(_ borrower: PostgresBorrower?, free: Int) -> Bool {
        guard let borrower else { return free > 0 }
        return allows(user: borrower.holder, free: free) && allows(place: borrower.place, free: free)
    }

    func allows(user: String, free: Int) -> Bool {
        free > 0 && users[user] ?? 0 <= Self.perFree.user * (free - 1)
    }

    func allows(place: String, free: Int) -> Bool {
        free > 0 && places[place] ?? 0 <= Self.perFree.place * (free - 1)
    }

    mutating func take(_ borrower: PostgresBorrower?) { add(1, borrower) }

    mutating func giveBack(_ borrower: PostgresBorrower?) { add(-1, borrower) }

    private mutating func add(_ number: Int, _ borrower: PostgresBorrower?) {
        guard let borrower else { return }
        Self.add(number, borrower.holder, &users)
        Self.add(number, borrower.place, &places)
    }

    private static func add(_ number: Int, _ name: String, _ counts: inout [String: Int]) {
        let count = (counts[name] ?? 0) + number
        counts[name] = count == 0 ? nil : count
    }
}
