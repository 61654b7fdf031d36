public import Foundation
public import TomboloModel

/// A talk, a workshop, or a break in an event's programme.
public final class Session: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var event: Event?
    @Persisted(indexed: true) public var track: Track?
    @Persisted(indexed: true) public var room: Microlocation?
    /// In the order of announcement.
    @Persisted public var speakers: List<Speaker>
    @Persisted public var title: String
    @Persisted public var subtitle: String?
    @Persisted public var shortAbstract: String?
    @Persisted public var longAbstract: String?
    @Persisted public var language: String?
    @Persisted public var level: String?
    /// The name of the kind of session, such as `Keynotes`.
    @Persisted public var sessionType: String?
    @Persisted public var startsAt: Date?
    @Persisted public var endsAt: Date?
    @Persisted public var state = SessionState.draft
    @Persisted public var slidesURL: String?
    @Persisted public var audioURL: String?
    @Persisted public var videoURL: String?
    @Persisted public var signupURL: String?
    /// Whether the event is published and public. The server keeps it up to date; what a device writes is replaced.
    @Persisted public var isPublic = false
    /// The session's id in the system that it was imported from.
    @Persisted public var sourceID: String?

    override public class func propertyHints() -> [String: String] { ["isPublic": PropertyHint.isPublic] }
    override public class func markdownProperties() -> [String] { ["shortAbstract", "longAbstract"] }
    override public class func isTrashable() -> Bool { true }
}
