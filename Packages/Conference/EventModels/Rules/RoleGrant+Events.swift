public import TomboloModel
public import TomboloRules

extension RoleGrant {
    /// The grant of a ``RoleAssignment``. An event's role counts only within an event, and a platform's role only
    /// without one, so an invalid row grants nothing.
    public init?(_ role: RoleName, event: ObjectId?) {
        guard RoleName.platformRoles.contains(role) == (event == nil) else { return nil }
        self.init(Role(role), in: event)
    }
}
