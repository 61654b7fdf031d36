import Foundation
public import TomboloHTTP
import TomboloLocalization

/// The address at which people reach an admin server. Links in its mails begin with it. It's never taken from a
/// request's `Host`, which the client chooses.
public struct AdminAddress: Hashable, Sendable {
    /// The environment variable with the address.
    public static let variable = "TOMBOLO_ADMIN_URL"

    /// Has no trailing slash.
    public let text: String

    /// - Parameter text: `https://HOST`, optionally with a port and a path; `http` is allowed too, for private
    ///   networks.
    /// - Throws: `ConfigurationError` for anything else.
    public init(_ text: String) throws(ConfigurationError) {
        let parts = LinkAddress.parts(of: text)
        guard let parts, ["https", "http"].contains(parts.scheme), parts.host?.isEmpty == false, parts.user == nil,
            parts.query == nil, parts.fragment == nil
        else {
            throw ConfigurationError(problems: [
                localized(
                    "\(Self.variable) is '\(text)': give the address of this server, without spaces, such as "
                        + "https://admin.example.org.")
            ])
        }
        self.text = String(text.reversed().drop { $0 == "/" }.reversed())
    }
}
