import Foundation
import TomboloAuthentication
import TomboloModel

/// The tokens of a login as JSON.
struct LoginAnswer: Encodable {
    let accessToken: String
    /// ISO 8601.
    let expiresAt: Date
    let refreshToken: String
    let refreshExpiresAt: Date
    let userID: String
    let deviceID: String
    let sessionID: String
    let provider: String

    init(_ login: Login) {
        accessToken = login.token
        expiresAt = login.expiresAt
        refreshToken = login.refreshToken
        refreshExpiresAt = login.refreshExpiresAt
        userID = login.userID.stringValue
        deviceID = login.deviceID.stringValue
        sessionID = login.sessionID.stringValue
        provider = login.provider
    }
}
