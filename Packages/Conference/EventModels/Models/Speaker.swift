public import TomboloModel

/// Somebody who speaks at an event, as the public may see them. Addresses are in ``SpeakerContact``.
public final class Speaker: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var event: Event?
    /// The speaker's account, if there is one.
    @Persisted(indexed: true) public var user: User?
    @Persisted public var name: String
    @Persisted public var organisation: String?
    /// The speaker's job.
    @Persisted public var position: String?
    @Persisted public var shortBiography: String?
    @Persisted public var longBiography: String?
    @Persisted public var photoURL: String?
    @Persisted public var website: String?
    @Persisted public var twitter: String?
    @Persisted public var facebook: String?
    @Persisted public var github: String?
    @Persisted public var linkedin: String?
    @Persisted public var city: String?
    @Persisted public var country: String?
    @Persisted public var isFeatured = false
    /// Whether the event is published and public. The server keeps it up to date; what a device writes is replaced.
    @Persisted public var isPublic = false
    /// The speaker's id in the system that they were imported from. Not unique in real exports.
    @Persisted public var sourceID: String?

    override public class func propertyHints() -> [String: String] { ["isPublic": PropertyHint.isPublic] }
    override public class func markdownProperties() -> [String] { ["shortBiography", "longBiography"] }
    override public class func isTrashable() -> Bool { true }
}
