import Foundation
import Tombolo
import TomboloSQLiteStore

/// Two releases of an app without a server, for tests that need a separate process: one to kill, or one that writes to the same
/// file.
///
///     LocalApp fill FILE COUNT      the first release creates COUNT persons
///     LocalApp check FILE           the state of the file: "old COUNT SUM" or "new COUNT SUM"
///     LocalApp migrate FILE STEP    the second release opens the file and is killed at a step of its migration
///     LocalApp write FILE NAME COUNT    COUNT write transactions, each adding a person
///     LocalApp try FILE             opens the file and writes to it: "written", or the code and the message
///     LocalApp classes              the classes of a Realm whose configuration lists none
@main
struct LocalApp {
    static func main() throws {
        let arguments = CommandLine.arguments
        switch arguments[1] {
        case "fill": try fill(arguments[2], Int(arguments[3]) ?? 0)
        case "check": print(try check(arguments[2]))
        case "migrate": try migrate(arguments[2], arguments[3])
        case "write": try write(arguments[2], arguments[3], Int(arguments[4]) ?? 0)
        case "try":
            do {
                try write(arguments[2], "try", 1)
                print("written")
            } catch let error as Realm.Error {
                print("\(error.code): \(error.message)")
            }
        case "classes":
            let realm = try Realm(configuration: .init(inMemoryIdentifier: "classes"))
            try realm.write { realm.create(Second.Person.self, value: ["_id": 1]) }
            print(try classes(realm))
        default: throw CocoaError(.featureUnsupported)
        }
    }

    private static func fill(_ path: String, _ count: Int) throws {
        let realm = try Realm(configuration: First.configuration(path))
        try realm.write {
            for number in 1...count {
                realm.create(
                    First.Person.self, value: ["_id": number, "name": "Person \(number)", "age": "\(number)"])
            }
        }
    }

    private static func check(_ path: String) throws -> String {
        if try schemaVersionAtURL(URL(fileURLWithPath: path)) == 0 {
            let persons = try Realm(configuration: First.configuration(path)).objects(First.Person.self)
            return "old \(persons.count) \(persons.reduce(0) { $0 + (Int($1.age ?? "") ?? 0) })"
        }
        let persons = try Realm(configuration: Second.configuration(path)).objects(Second.Person.self)
        return "new \(persons.count) \(persons.reduce(0) { $0 + $1.age })"
    }

    private static func migrate(_ path: String, _ step: String) throws {
        var configuration = Second.configuration(path)
        configuration.onMigrationStep = { if $0.rawValue == step { kill(getpid(), SIGKILL) } }
        if step == "block" {
            configuration.migrationBlock = { migration, _ in
                Second.convert(migration) { if $0 == 250 { kill(getpid(), SIGKILL) } }
            }
        }
        _ = try Realm(configuration: configuration)
    }

    private static func write(_ path: String, _ name: String, _ count: Int) throws {
        let realm = try whenFree { try Realm(configuration: First.configuration(path)) }
        for number in 0..<count {
            try whenFree {
                try realm.write {
                    _ = realm.create(
                        First.Person.self, value: ["_id": Int.random(in: 1...(.max)), "name": "\(name) \(number)"])
                }
            }
        }
    }

    /// Retries if another process has kept the file locked for too long, as may happen on a busy machine, because it takes the lock
    /// again before this process notices that it was free.
    private static func whenFree<Result>(_ body: () throws -> Result) throws -> Result {
        while true {
            do {
                return try body()
            } catch let error as Realm.Error where error.message.contains("stayed locked by another writer") {
                continue
            }
        }
    }

    private static func classes(_ realm: Realm) throws -> String {
        realm.configuration.objectTypes == nil ? "none listed, \(realm.objects(Second.Person.self).count) found" : ""
    }
}

enum First {
    class Person: Object {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var name: String
        @Persisted var age: String?

        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    static func configuration(_ path: String) -> Realm.Configuration {
        .init(fileURL: URL(fileURLWithPath: path), objectTypes: [Person.self])
    }
}

enum Second {
    class Person: Object {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted(indexed: true) var fullName: String
        @Persisted var age: Int
        @Persisted var pets: List<Pet>
    }

    class Pet: Object {
        @Persisted var name: String
    }

    static func configuration(_ path: String) -> Realm.Configuration {
        .init(
            fileURL: URL(fileURLWithPath: path), schemaVersion: 1,
            migrationBlock: { migration, _ in convert(migration) { _ in } }, objectTypes: [Person.self])
    }

    static func convert(_ migration: Migration, _ note: (Int) -> Void) {
        migration.renameProperty(onType: "Person", from: "name", to: "fullName")
        var count = 0
        migration.enumerateObjects(ofType: "Person") { old, new in
            new?["age"] = Int(old?["age"] as? String ?? "")
            count += 1
            note(count)
        }
    }
}
