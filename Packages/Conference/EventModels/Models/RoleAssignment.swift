public import TomboloModel

/// Gives a user a role in an event, or in the whole platform where there is no event.
public final class RoleAssignment: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var user: User?
    @Persisted public var role = RoleName.registrar
    /// Nil for the roles of the platform; any other role without an event gives nothing. A role within an event goes with
    /// the event: without it, it would be one of the platform.
    @Persisted(onDelete: .cascade) public var event: Event?

    override public class func indexedProperties() -> [String] { ["event"] }
    override public class func uniqueProperties() -> [[String]] { [["user", "role", "event"]] }
}
