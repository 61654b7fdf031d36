/// For whom a connection of a pool is borrowed.
///
/// Statements can't be interrupted for others, so that turns alone would keep everybody waiting for the slow ones of a few. So
/// the more connections a user holds, and all users of an address together, the more they have to leave free: a user alone
/// has half of them, an address alone three quarters, and the last one is for somebody else.
public struct PostgresBorrower: Hashable, Sendable {
    /// The user's id; nil for somebody who isn't logged in.
    public let user: String?
    /// What counts as one address: an IP address, or a network of IPv6; nil where it isn't known.
    public let address: String?

    public init(user: String? = nil, address: String? = nil) {
        self.user = user
        self.address = address
    }

    /// The user; all of an address who aren't logged in are one. Addresses have no blanks.
    var holder: String { user ?? "nobody at \(address ?? "")" }

    /// The address. A user without one is a place of their own.
    var place: String { address ?? "user \(holder)" }

    /// For whom the task works; nil for the server itself, which has no limit. What is borrowed while a connection is held
    /// isn't counted, or a user's requests could wait for each other forever.
    @TaskLocal public static var current: PostgresBorrower?
}
