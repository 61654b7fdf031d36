public import TomboloModel

/// A theme that runs through an event's programme.
public final class Track: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var event: Event?
    @Persisted public var name: String
    @Persisted public var details: String?
    /// `#RRGGBB`.
    @Persisted public var color: String?
    /// The colour of text on ``color``, `#RRGGBB`.
    @Persisted public var fontColor: String?
    /// Whether the event is published and public. The server keeps it up to date; what a device writes is replaced.
    @Persisted public var isPublic = false
    /// The track's id in the system that it was imported from.
    @Persisted public var sourceID: String?

    override public class func propertyHints() -> [String: String] {
        ["color": PropertyHint.color, "fontColor": PropertyHint.color, "isPublic": PropertyHint.isPublic]
    }
    override public class func markdownProperties() -> [String] { ["details"] }
    override public class func isTrashable() -> Bool { true }
}
