public import TomboloModel

/// The roles that a ``RoleAssignment`` can give. `attendee` (everybody who is logged in) and `anonymous` are not
/// assigned. An unknown stored value reads as the weakest role.
public enum RoleName: String, PersistableEnum, Sendable {
    case registrar
    case moderator
    case trackOrganizer
    case coorganizer
    case organizer
    case owner
    /// A role of the platform, not of an event.
    case admin
    /// A role of the platform, not of an event.
    case superAdmin

    /// Roles of the whole platform, which are assigned without an event.
    public static let platformRoles: Set<RoleName> = [.admin, .superAdmin]
}
