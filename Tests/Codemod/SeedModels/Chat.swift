// A chat with embedded objects, before property wrappers.
import RealmSwift

class ChatUser: Object {
    @Persisted var _id = UUID().uuidString
    @Persisted var partition = ""  // "user=_id"
    @Persisted var userName = ""
    @Persisted var userPreferences: UserPreferences?
    @Persisted var lastSeenAt: Date?
    @Persisted var conversations: List<Conversation>
    @Persisted var presence = "Off-Line"

    var presenceState: Presence {
        get { Presence(rawValue: presence) ?? .hidden }
        set { presence = newValue.rawValue }
    }

    override static func primaryKey() -> String? {
        return "_id"
    }
}

enum Presence: String {
    case onLine = "On-Line"
    case offLine = "Off-Line"
    case hidden = "Hidden"
}

class UserPreferences: EmbeddedObject {
    @Persisted var displayName: String?
    @Persisted var avatarImage: Photo?
}

class Photo: EmbeddedObject {
    @Persisted var _id = UUID().uuidString
    @Persisted var thumbNail: Data?
    @Persisted var date = Date()
}

class Conversation: EmbeddedObject {
    @Persisted var id = UUID().uuidString
    @Persisted var displayName = ""
    @Persisted var unreadCount = 0
    @Persisted var members: List<Member>
}

class Member: EmbeddedObject {
    @Persisted var userName = ""
    @Persisted var membershipStatus = "User added, but invite pending"
}
