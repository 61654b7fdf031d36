public import Foundation
public import TomboloModel

/// A conference or another gathering.
public final class Event: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted public var name: String
    /// The short code in public addresses. Exports of different events may share one, so it isn't unique.
    @Persisted(indexed: true) public var identifier: String
    @Persisted public var details: String?
    @Persisted public var startsAt: Date
    @Persisted public var endsAt: Date
    /// The IANA name of the zone in which the event's times are shown, such as `America/Chicago`.
    @Persisted public var timezone = "UTC"
    @Persisted public var locationName: String?
    /// Degrees, north positive.
    @Persisted public var latitude: Double?
    /// Degrees, east positive.
    @Persisted public var longitude: Double?
    @Persisted public var state = EventState.draft
    @Persisted public var privacy = EventPrivacy.private
    @Persisted public var organizerName: String?
    @Persisted public var organizerDescription: String?
    @Persisted public var logoURL: String?
    @Persisted public var imageURL: String?
    @Persisted public var ticketURL: String?
    @Persisted public var websiteURL: String?
    @Persisted public var type: String?
    @Persisted public var topic: String?
    @Persisted public var subTopic: String?
    @Persisted public var codeOfConduct: String?
    @Persisted public var copyrightHolder: String?
    @Persisted public var copyrightYear: Int?
    @Persisted public var licence: String?
    @Persisted public var licenceURL: String?
    /// The user who created the event and thereby became its owner. Set when the event is created.
    @Persisted public var creator: ObjectId?
    /// The event's id in the system that it was imported from.
    @Persisted public var sourceID: String?

    override public class func propertyHints() -> [String: String] {
        [
            "timezone":
                "The IANA name of the zone in which the event's times are shown, such as America/Chicago. Forms show "
                + "all times in UTC.",
            "latitude": "Degrees, north positive.", "longitude": "Degrees, east positive.",
            "identifier": "The short code in public addresses.",
        ]
    }
    override public class func markdownProperties() -> [String] {
        ["details", "organizerDescription", "codeOfConduct"]
    }
    override public class func placeProperties() -> (latitude: String, longitude: String)? {
        ("latitude", "longitude")
    }
    override public class func isTrashable() -> Bool { true }
}
