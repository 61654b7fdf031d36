public import TomboloModel

/// Gives a user a role in an event, or in the whole platform if there is no event.
public final class RoleAssignment: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var user: User?
    @Persisted public var role = RoleName.registrar
    /// Nil for the platform's roles; any other role without an event has no effect. The assignment is deleted with
    /// its event, or it would count as one for the platform.
    @Persisted(onDelete: .cascade) public var event: Event?

    override public class func indexedProperties() -> [String] { ["event"] }
    override public class func uniqueProperties() -> [[String]] { [["user", "role", "event"]] }
}
