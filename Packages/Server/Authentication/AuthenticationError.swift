import TomboloLocalization

/// Why somebody can't log in, register, or prove who they are. Descriptions are fit for clients: none reveals whether
/// an account exists.
public enum AuthenticationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The e-mail address or password is wrong, or there is no such account.
    case wrongCredentials
    /// Too many attempts for this e-mail address or from this IP address: failed logins, or mails.
    case tooManyAttempts(retryAfterSeconds: Int)
    /// More logins at once than the server can check; trying again helps.
    case busy
    /// The token is malformed, was tampered with, or was made for something else.
    case invalidToken(reason: String)
    /// The token was valid until `expiredAt`, in seconds since 1970.
    case expiredToken(expiredAt: Int64)
    /// The password was changed, or the tokens were revoked, after the token was made.
    case revokedToken
    /// The refresh token is malformed, or its login session has ended.
    case endedSession
    /// The user has no such login session.
    case noSuchSession
    /// The token is valid, but its user's account is gone or disabled.
    case unknownUser
    case invalidEmail(reason: String)
    case invalidPassword(reason: String)
    case invalidDisplayName(reason: String)
    case invalidCustomData(reason: String)
    /// Another account has the e-mail address. Only people who register learn this.
    case emailTaken
    /// The configured signing secret is too short. The size is in bytes.
    case weakSecret(byteCount: Int)
    /// The database has no key that this server can sign with.
    case noUsableKey
    /// A private key can't be sealed.
    case unreadableKey(id: String)
    /// There are already ``SigningKey/maximumCount`` active keys.
    case tooManyKeys
    case noSuchKey(id: String)
    /// Retiring the only active key would refuse every token, without another key to sign new ones.
    case lastKey
    /// The provider is off, or doesn't exist.
    case noSuchProvider
    /// Anonymous credentials and API keys can't be added to an account.
    case notLinkable
    /// Another account has the identity, or this one already has an address.
    case identityTaken
    case apiKeyNameTaken
    case tooManyAPIKeys
    case noSuchAPIKey
    /// The login was made with an API key. Such keys are for programs to do their work, not to manage the account.
    case keyLogin
    /// A code of a second factor is wrong, or was already used.
    case wrongCode
    /// The login was made without the second factor that the account has, or must have.
    case secondFactorRequired
    /// The account has a second factor, and this action needs a code of it as well as the access token.
    case codeRequired
    /// The secret of a second factor was sealed with another secret of the servers.
    case unreadableSecondFactor
    /// A mailed token is wrong, expired or already used.
    case badMailToken
    /// There is an open invitation to the same address for the same role.
    case alreadyInvited
    /// The limit on open invitations is reached, or an invitation was already sent as often as allowed.
    case tooManyInvitations
    /// The server can't send mails.
    case noMail
    /// An outside issuer or hook doesn't answer as it should.
    case unreachable
    case functionFailed
    case invalidSettings(reason: String)

    public var description: String {
        switch self {
        case .wrongCredentials: localized("E-mail or password is wrong.")
        case .tooManyAttempts(let seconds): Self.tooManyAttempts(seconds)
        case .busy: localized("Too many people are logging in at the moment: try again in a few seconds.")
        case .invalidToken(let reason): "The access token is not valid: \(reason) Log in again."
        case .expiredToken: "The access token has expired: log in again."
        case .revokedToken: "This access token's login has ended, or the password has been changed since: log in again."
        case .endedSession: localized("The login has ended: log in again.")
        case .noSuchSession: localized("There is no such login, or it has ended.")
        case .unknownUser: localized("The access token's account no longer exists.")
        case .invalidEmail(let reason): localized("This e-mail address cannot be used: \(reason)")
        case .invalidPassword(let reason): localized("This password cannot be used: \(reason)")
        case .invalidDisplayName(let reason): localized("This name cannot be used: \(reason)")
        case .invalidCustomData(let reason): localized("This custom data cannot be used: \(reason)")
        case .emailTaken:
            localized("There is already an account with this e-mail address: log in, or use another address.")
        case .noSuchProvider: localized("This way to log in or register isn't offered here.")
        case .notLinkable: "Anonymous credentials and API keys can't be linked."
        case .identityTaken: "Another account has this identity, or this account already has an e-mail address."
        case .apiKeyNameTaken: "There is already a key with this name."
        case .tooManyAPIKeys: "There are already \(APIKey.maximumCountOfUser) keys: delete one first."
        case .noSuchAPIKey: "There is no such key."
        case .keyLogin: "A login with an API key can't manage the account, its keys or its other logins."
        case .wrongCode: localized("This code is wrong or was already used: wait for the next one.")
        case .secondFactorRequired: localized("This requires a login with a second factor.")
        case .codeRequired: localized("This account has a second factor, and this requires a code from it.")
        case .unreadableSecondFactor:
            localized(
                "The app's codes can't be checked any more, because the servers' secret was replaced. Use a recovery "
                    + "code and set the app up again, or have somebody remove the second factor.")
        case .badMailToken: localized("This token is wrong, has expired, or was already used: ask for another mail.")
        case .alreadyInvited:
            localized("There is already an open invitation to this address for this role: send that one again.")
        case .tooManyInvitations:
            localized(
                "Too many invitations: at most \(Invitation.maximumOfInviter) from one person and "
                    + "\(Invitation.maximumOfScope) to one object can be open, and each can be sent "
                    + "\(Invitation.maximumSendCount) times. Revoke some first.")
        case .noMail: localized("This server can't send mails.")
        case .unreachable: "The service that vouches for users doesn't answer at the moment."
        case .functionFailed: "The function that vouches for users failed."
        case .invalidSettings(let reason): "These settings can't be used: \(reason)"
        case .noUsableKey:
            "No signing key can be opened with this server's TOMBOLO_JWT_SECRET. Give all servers the same secret; if it "
                + "was replaced, run 'migration-tool keys rotate' with the new one."
        case .unreadableKey(let id): "The signing key \(id) can't be sealed."
        case .tooManyKeys: "\(SigningKey.maximumCount) keys are already active: retire old ones first."
        case .noSuchKey(let id): "There is no signing key \(id)."
        case .lastKey: "It is the only active key: make another first."
        case .weakSecret(let count):
            "The token secret has \(count) bytes; it needs at least \(TokenConfiguration.minimumSecretByteCount). "
                + "Make one with 'openssl rand -hex 32' and set TOMBOLO_JWT_SECRET to it."
        }
    }

    /// The message, with the time in words: `40 seconds`, `12 minutes`.
    private static func tooManyAttempts(_ seconds: Int) -> String {
        switch seconds {
        case ...1:
            return localized("Too many attempts, for this account or from your network: try again in a second.")
        case ...120:
            return localized(
                seconds,
                one: "Too many attempts, for this account or from your network: try again in \(seconds) second.",
                other: "Too many attempts, for this account or from your network: try again in \(seconds) seconds.")
        default:
            let minutes = (seconds + 59) / 60
            return localized(
                minutes,
                one: "Too many attempts, for this account or from your network: try again in \(minutes) minute.",
                other: "Too many attempts, for this account or from your network: try again in \(minutes) minutes.")
        }
    }
}
