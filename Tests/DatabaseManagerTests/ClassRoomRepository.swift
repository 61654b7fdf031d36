import DatabaseManager
import RealmSwift

class ClassRoomRepository: Object {
    @Persisted(primaryKey: true) var id: String = ""
    @Persisted var name: String = ""
    @Persisted var studentIds: List<String>
}

extension ClassRoomRepository: DatabaseConfigurable {
    var schemaName: String? {
        return "ClassRoom"
    }
    var schemaVersion: UInt64? {
        return 0
    }
    var objectTypes: [Object.Type]? {
        return [ClassRoomRepository.self]
    }
    var migrationBlock: MigrationBlock? {
        return nil
    }
}
