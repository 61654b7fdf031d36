public import Foundation
import TomboloHTTP

/// What invitations need besides the database.
public struct PeopleOptions: Sendable {
    /// Where an invitation's link currently leads; the token is added as `token=`. If nil, the inviter gets the token
    /// instead.
    public var invitationLink: String? { link() }
    private let link: @Sendable () -> String?
    /// The clock by which invitations expire.
    public var now: @Sendable () -> Date

    /// The variable with ``invitationLink``.
    public static let linkVariable = "TOMBOLO_INVITATION_URL"
    /// The panel's page for invitations.
    public static let panelPath = "/panel/invitation"

    public init(invitationLink: String? = nil, now: @escaping @Sendable () -> Date = { Date() }) {
        link = { invitationLink }
        self.now = now
    }

    /// - Parameter settings: determine where links lead, which may change.
    public init(_ settings: LiveSettings) {
        link = { settings.current.invitationTarget }
        now = { Date() }
    }

    /// Checks an address for links; an app's own scheme is allowed.
    /// - Throws: `ConfigurationError` for anything that isn't an address.
    static func checkLink(_ text: String) throws(ConfigurationError) {
        guard LinkAddress.parts(of: text) != nil else {
            throw ConfigurationError(problems: [
                "\(linkVariable) is '\(text)': give an address, without spaces, such as "
                    + "https://example.org/invitation."
            ])
        }
    }
}
