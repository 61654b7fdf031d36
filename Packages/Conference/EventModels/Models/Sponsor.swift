public import TomboloModel

/// An organisation that supports an event.
public final class Sponsor: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var event: Event?
    @Persisted public var name: String
    @Persisted public var details: String?
    @Persisted public var url: String?
    @Persisted public var logoURL: String?
    /// The kind of sponsorship in words, such as `Gold`.
    @Persisted public var type: String?
    /// Higher levels are shown first.
    @Persisted public var level: Int?
    /// Whether the event is published and public. The server keeps it up to date; what a device writes is replaced.
    @Persisted public var isPublic = false
    /// The sponsor's id in the system that it was imported from.
    @Persisted public var sourceID: String?

    override public class func propertyHints() -> [String: String] { ["isPublic": PropertyHint.isPublic] }
    override public class func markdownProperties() -> [String] { ["details"] }
    override public class func isTrashable() -> Bool { true }
}
