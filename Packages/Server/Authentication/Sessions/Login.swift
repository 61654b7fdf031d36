public import Foundation
public import TomboloModel

/// What a login, or an exchange of its refresh token, gives a device.
public struct Login: Hashable, Sendable {
    public let accessToken: AccessToken
    /// To be exchanged for the next pair of tokens, once.
    public let refreshToken: String
    /// The refresh token is good until then.
    public let refreshExpiresAt: Date
    public let sessionID: ObjectId
    public let deviceID: ObjectId
    /// How the user logged in.
    public let provider: String

    /// The access token, as requests carry it.
    public var token: String { accessToken.token }
    public var userID: ObjectId { accessToken.userID }
    /// The access token is good until then.
    public var expiresAt: Date { accessToken.expiresAt }
}

extension Login: CustomStringConvertible, CustomReflectable {
    /// Without the tokens: they must not end up in logs.
    public var description: String { "<login of \(userID), session \(sessionID)>" }
    public var customMirror: Mirror { Mirror(self, children: ["userID": userID, "sessionID": sessionID]) }
}
