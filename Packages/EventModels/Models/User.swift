public import TomboloModel

/// Somebody's account. What proves their identity (password hash, tokens) is in tables without a model class.
public final class User: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    /// In lower case. Who logs in names it.
    @Persisted public var email: String
    @Persisted public var displayName: String
    @Persisted public var details: String?
    @Persisted public var avatarURL: String?

    override public class func tableName() -> String? { "users" }
    override public class func uniqueProperties() -> [[String]] { [["email"]] }
    override public class func isTrashable() -> Bool { true }
}
