import DatabaseManager
import Foundation
import RealmSwift

/// An app with the legacy architecture: nothing is configured, so all its classes are in one file.
class Room: Object, DatabaseConfigurable {
    @Persisted(primaryKey: true) var id: Int

    var schemaName: String? { nil }
    var schemaVersion: UInt64? { nil }
    var objectTypes: [Object.Type]? { nil }
    var migrationBlock: MigrationBlock? { nil }
}

class Guest: Object {
    @Persisted(primaryKey: true) var id: Int
}

let realm = try Room().openRealm(with: .inStorage)
try realm.write {
    realm.create(Room.self, value: ["id": 1], update: .all)
    realm.create(Guest.self, value: ["id": 1], update: .all)
}
print(realm.configuration.fileURL?.path ?? "", realm.objects(Room.self).count, realm.objects(Guest.self).count)
