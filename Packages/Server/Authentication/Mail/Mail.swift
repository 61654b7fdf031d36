import TomboloLocalization

/// A mail about an account. It carries a one-time token to the address, or tells the owner something that they have to
/// know.
public struct Mail: Codable, Hashable, Sendable {
    public enum Purpose: String, Codable, Sendable {
        /// Proves the address of a registration.
        case confirm
        /// Allows the recipient to replace a forgotten password.
        case reset
        /// Lets somebody choose the password of an account that was made for them.
        case welcome
        /// Somebody registered an address that already has an account. Carries no token.
        case alreadyRegistered
        /// Offers a role; the token accepts it.
        case invite
        /// Shows that mail arrives. Carries no token.
        case test
        /// Tell an account's owner what was done. Carry no token.
        case passwordChanged, secondFactorSetUp, secondFactorRemoved
    }

    /// How long the tokens of mails about an account are valid, in minutes.
    public static let tokenMinutes = Int(MailTokens.lifetimeSeconds / 60)
    /// How long the tokens of mails about a new account are valid, in days.
    public static let welcomeDays = Int(MailTokens.welcomeLifetimeSeconds / 86_400)

    public let purpose: Purpose
    public let to: String
    /// The language of subject and text (BCP 47): `en`, `pt-BR`.
    public let language: String
    public let subject: String
    public let text: String
    public var token: String?
    public var tokenID: String?
    /// The configured address with both added.
    public var link: String?

    /// - Parameters:
    ///   - subject: like `paragraphs`, in the language of ``MessageCatalogue/current``.
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
