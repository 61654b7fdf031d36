public import TomboloModel
public import TomboloRules

extension RoleGrant {
    /// What a ``RoleAssignment`` gives: an event's role only within an event, a platform's role only without one, so
    /// that a wrong row gives nothing.
    public init?(_ role: RoleName, event: ObjectId?) {
        guard RoleName.platformRoles.contains(role) == (event == nil) else { return nil }
        self.init(Role(role), in: event)
    }
}
