public import TomboloModel

/// An event's page in another place, such as a social network.
public final class SocialLink: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var event: Event?
    @Persisted public var name: String
    @Persisted public var url: String
    /// Whether the event is published and public. The server keeps it up to date; what a device writes is replaced.
    @Persisted public var isPublic = false
    /// The link's id in the system that it was imported from.
    @Persisted public var sourceID: String?

    override public class func propertyHints() -> [String: String] { ["isPublic": PropertyHint.isPublic] }
    override public class func isTrashable() -> Bool { true }
}
