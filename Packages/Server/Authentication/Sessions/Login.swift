public import Foundation
public import TomboloModel

/// What a device gets from a login, or from exchanging its refresh token.
public struct Login: Hashable, Sendable {
    public let accessToken: AccessToken
    /// Can be exchanged once for the next pair of tokens.
    public let refreshToken: String
    /// When the refresh token expires.
    public let refreshExpiresAt: Date
    public let sessionID: ObjectId
    public let deviceID: ObjectId
    /// How the user logged in.
    public let provider: String

    /// The access token, as requests carry it.
    public var token: String { accessToken.token }
    public var userID: ObjectId { accessToken.userID }
    /// When the access token expires.
    public var expiresAt: Date { accessToken.expiresAt }
}

extension Login: CustomStringConvertible, CustomReflectable {
    /// Without the tokens: they must not end up in logs.
    public var description: String { "<login of \(userID), session \(sessionID)>" }
    public var customMirror: Mirror { Mirror(self, children: ["userID": userID, "sessionID": sessionID]) }
}
