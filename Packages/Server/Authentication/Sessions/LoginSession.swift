public import Foundation
public import TomboloModel

/// One login of a user on one device, as the user's list of logins shows it.
public struct LoginSession: Hashable, Sendable {
    /// A session ends after this long without an exchange of its refresh token, in seconds: 60 days.
    public static let lifetimeSeconds: Int64 = 60 * 24 * 60 * 60
    /// The most live sessions of one user. A login beyond that ends the least recently used one.
    public static let maximumCountOfUser = 50
    /// How long ended sessions are kept, in seconds. Later logins of the user delete them.
    public static let keptSeconds: Int64 = 30 * 24 * 60 * 60

    public let id: ObjectId
    public let device: LoginDevice
    /// How the user logged in, such as `local-userpass`.
    public let provider: String
    public let createdAt: Date
    /// When its tokens were last exchanged.
    public let lastUsedAt: Date
}
