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
    /// A JSON object.
    let customData: String
    /// Tokens of any other generation are revoked.
    let generation: Int64
    var grants: Set<Grant> = []

    /// What rules decide by.
    var subject: Subject {
        Subject(
            user: userID,
            grants: Set(
                grants.compactMap { grant in
                    switch grant.scope {
                    case nil: RoleGrant(Role(grant.role))
                    case .objectId(let id): RoleGrant(Role(grant.role), in: id)
                    default: nil
                    }
                }))
    }
}
