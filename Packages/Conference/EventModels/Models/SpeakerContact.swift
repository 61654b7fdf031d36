public import TomboloModel

/// How organizers reach a speaker. A separate class, so that nobody else can see it.
public final class SpeakerContact: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    /// The speaker's event, whose organizers may see the contact.
    @Persisted(indexed: true) public var event: Event?
    @Persisted(indexed: true) public var speaker: Speaker?
    @Persisted public var email: String?
    @Persisted public var mobile: String?

    override public class func isTrashable() -> Bool { true }
}
