public import TomboloModel

/// A person's account. Their credentials (password hash, tokens) are in tables without a model class.
public final class User: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    /// In lower case; people log in with it. Only the server's tools change it, since nothing proves that a new
    /// address belongs to the user.
    @Persisted public var email: String
    @Persisted public var displayName: String
    @Persisted public var details: String?
    @Persisted public var avatarURL: String?
    /// Whether the user is a super administrator. The server keeps it up to date; what a device writes is refused.
    @Persisted public var isSuperAdmin = false

    override public class func tableName() -> String? { "users" }
    override public class func uniqueProperties() -> [[String]] { [["email"]] }
    override public class func isTrashable() -> Bool { true }
}
