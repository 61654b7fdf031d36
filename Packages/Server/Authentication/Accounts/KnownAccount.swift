import TomboloModel
import TomboloRules

/// What the database says of a user who shows a token.
struct KnownAccount: Hashable, Sendable {
    let userID: ObjectId
    /// What rules decide by: `%%user.data` has `email`, `name` and `isVerified`.
    let subject: Subject
    /// Tokens of any other generation are revoked.
    let generation: Int64
    /// The login sessions whose tokens count.
    let sessions: Set<ObjectId>
    let hasSecondFactor: Bool
    /// Those of ``sessions`` that were begun with the second factor.
    let provenSessions: Set<ObjectId>

    /// - Parameter grants: the roles that rows of a ``GrantSource`` give.
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
