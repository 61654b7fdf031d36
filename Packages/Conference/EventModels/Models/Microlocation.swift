public import TomboloModel

/// A room, a hall, or another place within an event's venue.
public final class Microlocation: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var event: Event?
    @Persisted public var name: String
    /// The storey; 0 is the ground floor.
    @Persisted public var floor: Int?
    @Persisted public var room: String?
    /// Degrees, north positive.
    @Persisted public var latitude: Double?
    /// Degrees, east positive.
    @Persisted public var longitude: Double?
    /// Whether the event is published and public. The server keeps it up to date; what a device writes is replaced.
    @Persisted public var isPublic = false
    /// The room's id in the system that it was imported from.
    @Persisted public var sourceID: String?

    override public class func propertyHints() -> [String: String] { ["isPublic": PropertyHint.isPublic] }
    override public class func placeProperties() -> (latitude: String, longitude: String)? {
        ("latitude", "longitude")
    }
    override public class func isTrashable() -> Bool { true }
}
