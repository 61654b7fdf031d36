public import TomboloModel

/// Who asks: a user with the roles given to them, or nobody in particular.
public struct Subject: Hashable, Sendable {
    /// Nil for somebody who is not logged in.
    public let userID: ObjectId?
    /// Roles beyond ``Role/anonymous`` and ``Role/attendee``, which follow from ``userID``.
    public let grants: Set<RoleGrant>

    private init(userID: ObjectId?, grants: Set<RoleGrant>) {
        self.userID = userID
        self.grants = grants
    }

    /// - Parameter grants: what the database says now; a subject is made anew when that changes.
    public init(user: ObjectId, grants: Set<RoleGrant> = []) { self.init(userID: user, grants: grants) }

    public static let anonymous = Subject(userID: nil, grants: [])

    public var isAnonymous: Bool { userID == nil }

    /// Whether the subject holds the role with this limit.
    func holds(_ role: Role, in scope: ObjectId?) -> Bool {
        if role == .anonymous { return scope == nil }
        if role == .attendee { return scope == nil && !isAnonymous }
        return grants.contains(RoleGrant(role, in: scope))
    }

    /// Where the subject has the role, in a fixed order.
    func scopes(of role: Role) -> [ObjectId] {
        grants.compactMap { $0.role == role ? $0.scope : nil }.sorted()
    }
}
