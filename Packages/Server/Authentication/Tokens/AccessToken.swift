public import Foundation
public import TomboloModel

/// Proof of a login, sent with every request: a signed JWT.
public struct AccessToken: Hashable, Sendable {
    public let token: String
    public let userID: ObjectId
    public let expiresAt: Date
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// Without the token itself: it must not end up in logs.
    public var description: String { "<access token of \(userID)>" }
    public var customMirror: Mirror { Mirror(self, children: ["userID": userID]) }
}
