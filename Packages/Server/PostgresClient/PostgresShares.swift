/// Tracks how many connections each borrower holds, and decides who may have another. Part of ``PostgresPoolState``.
///
/// Beyond its first connection, a user takes no more connections than it leaves free, and a place takes at most three
/// times as many as it leaves free. So one user alone gets half of them and one place alone three quarters. The last
/// free connection goes only to a user who holds none, at a place that holds none. docs/adr/0063 explains what stays
/// free in every case, and why. The server itself has no limit.
struct PostgresShares {
    /// For each connection left free, how many a user may take beyond its first, and how many all users of a place
    /// may.
    static let perFree = (user: 1, place: 3)

    private var users: [String: Int] = [:]
    private var places: [String: Int] = [:]

    /// - Parameter free: the number of connections that aren't lent.
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
