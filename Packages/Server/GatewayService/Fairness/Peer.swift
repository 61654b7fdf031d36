internal import TomboloAuthentication

/// Who a piece of work is for: a user, and the place they connect from. Scarce resources are shared by place first,
/// so that extra accounts gain nothing: anybody can create a hundred.
struct Peer: Hashable, Sendable {
    let user: String
    /// The ``AddressGroup`` of their device. Each user without an address counts as a separate place.
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
