import TomboloRules

/// What the database says of a user who shows a token.
struct KnownSubject: Hashable, Sendable {
    let subject: Subject
    /// Tokens of another generation are revoked.
    let generation: Int64
}
