import TomboloModel
import TomboloRules

/// What the database says of a user who shows a token.
struct KnownAccount: Hashable, Sendable {
    /// A role that a row of a ``GrantSource`` gives.
    struct Grant: Hashable, Sendable {
        let role: String
        /// The key of the object within which the role counts, or nil if it counts everywhere.
        let scope: Value?
    }

    let userID: ObjectId
    let email: String?
    let displayName: String
    let customData: [String: UserValue]
    /// Tokens of any other generation are revoked.
    let generation: Int64
    var grants: Set<Grant> = []
    /// The login sessions whose tokens count.
    var sessions: Set<ObjectId> = []

    /// What rules decide by: `%%user.data` has `email` and `name`.
    var subject: Subject {
        var data: [String: UserValue] = ["name": .string(displayName)]
        if let email { data["email"] = .string(email) }
        let grants = grants.map { RoleGrant(role: Role($0.role), scope: $0.scope) }
        return Subject(user: userID, data: data, customData: customData, grants: Set(grants))
    }
}
