import Foundation
import Tombolo

final class Dog: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var tag: Tag?
    @Persisted var friend: Dog?
    @Persisted var toys: List<String>
    @Persisted var friends: List<Dog>

    convenience init(_ name: String, age: Int = 0) {
        self.init()
        self.name = name
        self.age = age
    }
}

final class Tag: EmbeddedObject, ObjectKeyIdentifiable {
    @Persisted var number = 0
}

/// A file with dogs in its own folder.
@MainActor
final class Kennel {
    let configuration: Realm.Configuration
    private nonisolated let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "tombolo-observables-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        configuration = Self.configuration(folder, "dogs")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func configuration(_ folder: URL, _ name: String) -> Realm.Configuration {
        Realm.Configuration(fileURL: folder.appending(path: "\(name).sqlite"), objectTypes: [Dog.self, Tag.self])
    }

    /// The configuration of another file.
    func other(_ name: String) -> Realm.Configuration { Self.configuration(folder, name) }

    func realm() throws -> Realm { try Realm(configuration: configuration) }

    @discardableResult
    func add(_ dog: Dog) throws -> Dog {
        let realm = try realm()
        try realm.write { realm.add(dog) }
        return dog
    }

    /// Writes on another thread, as sync does.
    func elsewhere(_ body: @escaping @Sendable (Realm) -> Void) async throws {
        let configuration = configuration
        try await Task.detached {
            let realm = try Realm(configuration: configuration)
            try realm.write { body(realm) }
        }.value
    }
}

/// Counts calls.
@MainActor
final class Tally {
    private(set) var count = 0

    func add() { count += 1 }
}

/// Waits until a condition holds, up to the suite's time limit.
@MainActor
func until(_ condition: () throws -> Bool) async throws {
    while try !condition() { try await Task.sleep(for: .milliseconds(5)) }
}
