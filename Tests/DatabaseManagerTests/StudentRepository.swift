import DatabaseManager
import RealmSwift

class StudentRepository: Object {
    @Persisted(primaryKey: true) var id: String = ""
    @Persisted var name: String = ""
}

extension StudentRepository: DatabaseConfigurable {
    var schemaName: String? {
        return "Student"
    }
    var schemaVersion: UInt64? {
        return 0
    }
    var objectTypes: [Object.Type]? {
        return [StudentRepository.self]
    }
    var migrationBlock: MigrationBlock? {
        return nil
    }
}
