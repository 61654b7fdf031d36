import TomboloModel
import TomboloRules

/// What the database says about the user of a token.
struct KnownAccount: Hashable, Sendable {
    let userID: ObjectId
    /// The subject for rules: `%%user.data` has `email`, `name` and `isVerified`.
    let subject: Subject
    /// Tokens of any other generation are revoked.
    let generation: Int64
    /// The live login sessions. Tokens of others are refused.
    let sessions: Set<ObjectId>
    let hasSecondFactor: Bool
    /// Those of ``sessions`` that began with the second factor.
    let provenSessions: Set<ObjectId>

    /// - Parameter grants: the roles from rows of a ``GrantSource``.
    init(
        userID: ObjectId, email: String?, displayName: String, isVerified: Bool = false,
        customData: [String: UserValue],
        generation: Int64,
        grants: Set<RoleGrant> = [], sessions: Set<ObjectId> = [], hasSecondFactor: Bool = false,
        provenSessions: Set<ObjectId> = []
    ) {
        self.userID = userID
        self.generation = generation
        self.sessions = sessions
        self.hasSecondFactor = hasSecondFactor
        self.provenSessions = provenSessions
        var data: [String: UserValue] = ["name": .string(displayName), "isVerified": .bool(isVerified)]
        if let email { data["email"] = .string(email) }
        subject = Subject(user: userID, data: data, customData: customData, grants: grants)
    }
}
