/// For whom a connection of a pool is borrowed.
///
/// Statements can't be interrupted for others, so that turns alone would keep everybody waiting for one user's slow ones. So
/// a pool always leaves some connections to others: a user holds at most half of them, all users of an address together at
/// most three quarters.
public struct PostgresBorrower: Hashable, Sendable {
    /// The user's id; nil for somebody who isn't logged in.
    public let user: String?
    /// What counts as one address: an IP address, or a network of IPv6; nil where it isn't known.
    public let address: String?
    /// How much one call may receive, in bytes, unless ``PostgresResultLimit`` says it; nil for no limit.
    public let byteLimit: Int?

    public init(user: String? = nil, address: String? = nil, byteLimit: Int? = nil) {
        self.user = user
        self.address = address
        self.byteLimit = byteLimit
    }

    /// The user; all of an address who aren't logged in are one. Addresses have no blanks.
    var holder: String { user ?? "nobody at \(address ?? "")" }

    /// For whom the task works; nil for the server itself, which has no limit. What is borrowed while a connection is held
    /// isn't counted, or a user's requests could wait for each other forever.
    @TaskLocal public static var current: PostgresBorrower?
}

/// How many connections are held for whom. A value of ``PostgresPoolState``.
struct PostgresShares {
    private let userLimit: Int
    private let addressLimit: Int
    private var users: [String: Int] = [:]
    private var addresses: [String: Int] = [:]

    init(maximumConnections: Int) {
        userLimit = max(1, maximumConnections / 2)
        addressLimit = max(1, maximumConnections - maximumConnections / 4)
    }

    func allows(_ borrower: PostgresBorrower?) -> Bool {
        guard let borrower else { return true }
        return count(of: borrower) < userLimit && borrower.address.map { addresses[$0] ?? 0 < addressLimit } ?? true
    }

    /// Connections that the user holds; all of an address where nobody is logged in.
    func count(of borrower: PostgresBorrower?) -> Int {
        guard let borrower else { return 0 }
        return users[borrower.holder] ?? 0
    }

    mutating func take(_ borrower: PostgresBorrower?) { add(1, borrower) }

    mutating func giveBack(_ borrower: PostgresBorrower?) { add(-1, borrower) }

    private mutating func add(_ number: Int, _ borrower: PostgresBorrower?) {
        guard let borrower else { return }
        Self.add(number, borrower.holder, &users)
        if let address = borrower.address { Self.add(number, address, &addresses) }
    }

    private static func add(_ number: Int, _ name: String, _ counts: inout [String: Int]) {
        let count = (counts[name] ?? 0) + number
        counts[name] = count == 0 ? nil : count
    }
}
