public import Foundation
import TomboloHTTP

/// What invitations need besides the database.
public struct PeopleOptions: Sendable {
    /// Where the link of an invitation leads at the time; the token is added as `token=`. Nil: the token alone is given.
    public var invitationLink: String? { link() }
    private let link: @Sendable () -> String?
    /// The clock by which invitations expire.
    public var now: @Sendable () -> Date

    /// The variable with ``invitationLink``.
    public static let linkVariable = "TOMBOLO_INVITATION_URL"
    /// Where the panel takes invitations.
    public static let panelPath = "/panel/invitation"

    public init(invitationLink: String? = nil, now: @escaping @Sendable () -> Date = { Date() }) {
        link = { invitationLink }
        self.now = now
    }

    /// - Parameter settings: say where links lead, which may change.
    public init(_ settings: LiveSettings) {
        link = { settings.current.invitationTarget }
        now = { Date() }
    }

    /// What an address for links has to be; an app's own scheme will do.
    /// - Throws: `ConfigurationError` for what isn't an address.
    static func checkLink(_ text: String) throws(ConfigurationError) {
        guard LinkAddress.parts(of: text) != nil else {
            throw ConfigurationError(problems: [
                "\(linkVariable) is '\(text)': give an address, without spaces, such as "
                    + "https://example.org/invitation."
            ])
        }
    }
}
