public import TomboloModel

/// A role that a user has: in one scope, such as an event, or everywhere.
public struct RoleGrant: Hashable, Sendable {
    public let role: Role
    /// The key of the object within which the role counts; nil for a role that has no such limit.
    public let scope: ObjectId?

    public init(_ role: Role, in scope: ObjectId? = nil) {
        self.role = role
        self.scope = scope
    }
}
