public import TomboloModel

/// A role that a user has: within one object, such as an event, or everywhere.
public struct RoleGrant: Hashable, Sendable {
    public let role: Role
    /// The key of the object within which the role counts, of any key type; nil for a role that applies everywhere.
    public let scope: Value?

    public init(role: Role, scope: Value?) {
        self.role = role
        self.scope = scope
    }

    public init(_ role: Role, in scope: ObjectId? = nil) { self.init(role: role, scope: scope.map(Value.objectId)) }
}
