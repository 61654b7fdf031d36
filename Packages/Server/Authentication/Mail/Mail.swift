import TomboloLocalization

/// A mail that an account needs: it carries a one-time token to the address, or tells its owner what they have to know.
public struct Mail: Codable, Hashable, Sendable {
    public enum Purpose: String, Codable, Sendable {
        /// Proves the address of a registration.
        case confirm
        /// Lets a forgotten password be replaced.
        case reset
        /// Lets somebody choose the password of an account that was made for them.
        case welcome
        /// Somebody registered an address that has an account; holds no token.
        case alreadyRegistered
        /// Offers a role; the token accepts it.
        case invite
        /// Shows that mails arrive; holds no token.
        case test
        /// Tell an account's owner what was done; hold no token.
        case passwordChanged, secondFactorSetUp, secondFactorRemoved
    }

    /// How long the tokens of mails about an account are good, in minutes.
    public static let tokenMinutes = Int(MailTokens.lifetimeSeconds / 60)
    /// How long those of mails are good that tell of a new account, in days.
    public static let welcomeDays = Int(MailTokens.welcomeLifetimeSeconds / 86_400)

    public let purpose: Purpose
    public let to: String
    /// Of subject and text (BCP 47): `en`, `pt-BR`.
    public let language: String
    public let subject: String
    public let text: String
    public var token: String?
    public var tokenID: String?
    /// The configured address with both added.
    public var link: String?

    /// - Parameters:
    ///   - subject: and `paragraphs`: in the language of ``MessageCatalogue/current``.
    init(
        _ purpose: Purpose, to: String, subject: String, paragraphs: [String], token: String? = nil,
        tokenID: String? = nil, link: String? = nil
    ) {
        (self.purpose, self.to, self.subject) = (purpose, to, subject)
        language = (MessageCatalogue.current?.language ?? .english).tag
        text = paragraphs.joined(separator: "\n\n")
        (self.token, self.tokenID, self.link) = (token, tokenID, link)
    }
}

extension Mail: CustomStringConvertible, CustomReflectable {
    /// Without the token: it must not end up in logs.
    public var description: String { "<mail to \(purpose.rawValue)>" }
    public var customMirror: Mirror { Mirror(self, children: ["purpose": purpose]) }
}
