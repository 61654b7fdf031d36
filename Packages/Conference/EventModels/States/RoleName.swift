public import TomboloModel

/// The roles that a ``RoleAssignment`` can give. `attendee` (everybody who is logged in) and `anonymous` are not
/// assigned. A stored value that no case has reads as the weakest role.
public enum RoleName: String, PersistableEnum, Sendable {
    case registrar
    case moderator
    case trackOrganizer
    case coorganizer
    case organizer
    case owner
    /// Of the platform, not of an event.
    case admin
    /// Of the platform, not of an event.
    case superAdmin

    /// Roles of the whole platform, which are assigned without an event.
    public static let platformRoles: Set<RoleName> = [.admin, .superAdmin]
}
