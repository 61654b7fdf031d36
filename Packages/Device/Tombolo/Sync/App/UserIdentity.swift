/// One way of a user to log in.
public struct UserIdentity: Codable, Hashable, Sendable {
    /// The provider's name, for instance `local-userpass` or `anon-user`.
    public let providerType: String
    /// Who the user is for the provider: an e-mail address, a subject, a key's ID.
    public let identifier: String
}

/// What the server knows about a user, mostly from the tokens of outside issuers.
public struct UserProfile: Hashable, Sendable {
    /// All of it.
    public let metadata: Document

    public var name: String? { text("name") }
    public var email: String? { text("email") }
    public var pictureURL: String? { text("picture_url") ?? text("picture") }
    public var firstName: String? { text("first_name") }
    public var lastName: String? { text("last_name") }
    public var gender: String? { text("gender") }
    public var birthday: String? { text("birthday") }
    public var minAge: String? { text("min_age") }
    public var maxAge: String? { text("max_age") }

    private func text(_ name: String) -> String? { metadata[name]??.stringValue }
}
