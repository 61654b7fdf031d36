//  StudentRepository and ClassRoomRepository, copied from a page with typographic quotes.
import RealmSwift

class StudentRepository: Object {
    @Persisted var id: String = ""
    @Persisted var name: String = ""
    override static func primaryKey() -> String {
        return "id"
    }
}

class ClassRoomRepository: Object {
    @Persisted var id: String = ""
    @Persisted var name: String = ""
    @Persisted var studentIds: List<String>
    override static func primaryKey() -> String {
        return "id"
    }
}
