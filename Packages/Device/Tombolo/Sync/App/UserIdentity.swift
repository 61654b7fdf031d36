/// One of the ways in which a user can log in.
public struct UserIdentity: Codable, Hashable, Sendable {
    /// The provider's name, for instance `local-userpass` or `anon-user`.
    public let providerType: String
    /// The provider's ID for the user: an e-mail address, a subject or a key's ID.
    public let identifier: String
}

/// What the server knows about a user, mostly from the tokens of external issuers.
public struct UserProfile: Hashable, Sendable {
    /// The whole profile.
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
