public import Foundation

/// What invitations need besides the database.
public struct PeopleOptions: Sendable {
    /// Where the link of an invitation leads; the token is added as `token=`. Nil: the token alone is given.
    public var invitationLink: String?
    /// The clock by which invitations expire.
    public var now: @Sendable () -> Date

    /// The variable with ``invitationLink``.
    public static let linkVariable = "TOMBOLO_INVITATION_URL"
    /// Where the panel takes invitations.
    public static let panelPath = "/panel/invitation"

    public init(invitationLink: String? = nil, now: @escaping @Sendable () -> Date = { Date() }) {
        self.invitationLink = invitationLink
        self.now = now
    }

    /// As the process's environment says. Without ``linkVariable``, links lead to the panel's own page.
    public static func ofEnvironment(_ address: AdminAddress?) -> PeopleOptions {
        let link = ProcessInfo.processInfo.environment[linkVariable] ?? ""
        return PeopleOptions(invitationLink: link.isEmpty ? address.map { "\($0.text)\(panelPath)" } : link)
    }
}
