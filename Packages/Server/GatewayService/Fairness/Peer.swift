internal import TomboloAuthentication

/// Whose work something is: a user, and where they are. What is scarce is shared by address first, so that an account costs
/// nothing more than it gives: anybody can make a hundred.
struct Peer: Hashable, Sendable {
    let user: String
    /// The ``AddressGroup`` of their device. A user without an address is a place of their own.
    let place: String

    /// - Parameter address: an IP address, or empty if there is none.
    init(_ user: String, from address: String = "") {
        self.user = user
        place = address.isEmpty ? "user \(user)" : AddressGroup(address).text
    }

    init(_ user: String, at place: String) {
        self.user = user
        self.place = place
    }
}
