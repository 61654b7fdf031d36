import RealmSwift

final class Chat: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var title = ""
    @Persisted var unread = 0
    @Persisted var members: List<Member>
    @Persisted var messages: List<Message>
    @Persisted var settings: Settings?
}

final class Message: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var chat: ObjectId
    @Persisted var author = ""
    @Persisted var text = ""
    @Persisted var sent = Date()
}

final class Member: EmbeddedObject, ObjectKeyIdentifiable {
    @Persisted var name = ""
    @Persisted var isAdmin = false
}

final class Settings: EmbeddedObject {
    @Persisted var isMuted = false
}
