/// On whose behalf a connection of a pool is borrowed.
///
/// Statements can't be interrupted in favour of others, so taking turns alone would let a few users with slow
/// statements hold up everybody. Therefore the more connections a user or an address already holds, the more it must
/// leave free. One user alone gets at most half of the connections and one address alone at most three quarters; the
/// last free connection is kept for another user at another address.
public struct PostgresBorrower: Hashable, Sendable {
    /// The user's id, or nil if the user isn't logged in.
    public let user: String?
    /// The unit counted as one address: an IP address, or an IPv6 network. Nil if unknown.
    public let address: String?

    public init(user: String? = nil, address: String? = nil) {
        self.user = user
        self.address = address
    }

    /// The user. All users of an address who aren't logged in count as one. An address never contains a space, so the
    /// names can't clash.
    var holder: String { user ?? "nobody at \(address ?? "")" }

    /// The address. A user without an address counts as a separate place.
    var place: String { address ?? "user \(holder)" }

    /// On whose behalf the task works; nil for the server itself, which has no limit. Further connections borrowed
    /// while one is held aren't counted, or a user's requests could wait for each other forever.
    @TaskLocal public static var current: PostgresBorrower?
}
