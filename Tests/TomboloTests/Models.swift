import Foundation
import Tombolo

enum Level: String, PersistableEnum {
    case beginner
    case expert
}

class Room: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name = "Unnamed"
    @Persisted var floor: Int8?
}

class Speaker: Object {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var name: String
    @Persisted var sessions: List<Session>
}

class Session: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var title: String
    @Persisted(indexed: true) var price = 10
    @Persisted var rating: Double?
    @Persisted var startsAt: Date?
    @Persisted var level: Level
    @Persisted var notes: Data?
    @Persisted var isOpen = true
    @Persisted var token: UUID
    @Persisted var room: Room?
    @Persisted var speakers: List<Speaker>

    convenience init(_ id: Int, _ title: String, price: Int? = nil) {
        self.init()
        _id = id
        self.title = title
        if let price { self.price = price }
    }
}

/// A class without a primary key, for local Realms.
class Note: Object {
    @Persisted var text: String
}

/// A folder deleted with its owner.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "tombolo-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func configuration(
        synced: Bool = false, version: UInt64 = 0,
        types: [Object.Type] = [Session.self, Speaker.self, Room.self]
    ) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: url.appending(path: "test.sqlite"), schemaVersion: version, objectTypes: types)
        configuration.keepsUploadQueue = synced
        return configuration
    }
}
