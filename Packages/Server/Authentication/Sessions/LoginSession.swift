public import Foundation
public import TomboloModel

/// One login of a user on one device, as the user's list of logins shows it.
public struct LoginSession: Hashable, Sendable {
    /// Without an exchange of its refresh token for so long, in seconds, a session ends: 60 days.
    public static let lifetimeSeconds: Int64 = 60 * 24 * 60 * 60
    /// Sessions of one user at a time; a login beyond that ends the one that was used least recently.
    public static let maximumCountOfUser = 50
    /// How long sessions that have ended are kept, in seconds. Later logins of the user delete them.
    public static let keptSeconds: Int64 = 30 * 24 * 60 * 60

    public let id: ObjectId
    public let device: LoginDevice
    /// How the user logged in, such as `local-userpass`.
    public let provider: String
    public let createdAt: Date
    /// When its tokens were last exchanged.
    public let lastUsedAt: Date
}
