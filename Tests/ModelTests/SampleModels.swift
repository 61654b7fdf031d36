import Foundation
import TomboloModel

/// Foundation has a type with this name too.
typealias Predicate = TomboloModel.Predicate

enum TalkKind: String, PersistableEnum {
    case talk, workshop, breakTime = "break"
}

enum Level: Int, PersistableEnum {
    case beginner = 1
    case expert = 9
}

class Identified: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var createdAt: Date
}

class Room: Identified {
    @Persisted var name: String
    @Persisted var floor: Int8?
    @Persisted var venue: Venue?

    override class func tableName() -> String? { "microlocation" }
}

class Venue: Object {
    @Persisted(primaryKey: true) var code: String
    @Persisted var city: String?
}

class Speaker: Identified {
    @Persisted(indexed: true) var email = ""
    @Persisted var photo: Data?
    @Persisted var score: Float

    override class func uniqueProperties() -> [[String]] { [["email"]] }
}

class Talk: Identified {
    @Persisted var title = "Untitled"
    @Persisted var shortURL: String?
    @Persisted var seats = 30
    @Persisted var small: Int16 = 3
    @Persisted var kind: TalkKind
    @Persisted var level: Level?
    @Persisted var rating: Double?
    @Persisted var isPublic: Bool
    @Persisted var startsAt: Date?
    @Persisted var token: UUID
    @Persisted var room: Room?
    @Persisted var speakers: List<Speaker>
    /// Not persisted.
    var scratch = 0

    override class func isTrashable() -> Bool { true }
    override class func indexedProperties() -> [String] { ["startsAt"] }
}

/// Without a primary key, so for local use only.
class Note: Object {
    @Persisted var text: String
}
