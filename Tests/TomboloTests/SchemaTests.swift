import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSQLiteStore

@testable import Tombolo

/// Versions of one model class, as in an app's releases.
private enum V1 {
    class Student: Object {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var name: String
        @Persisted var nickname: String?
    }
}

private enum V2 {
    class Student: Object {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted(indexed: true) var name: String
        @Persisted var grade: Int
        @Persisted var email: String?
        @Persisted var friends: List<Student>
    }
}

private enum Wrong {
    class Student: Object {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var name: Int
        @Persisted var nickname: String
    }
}

/// Its property names also mean something in the file's description of a class.
private class Words: Release {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var key: String
    @Persisted(indexed: true) var indexed: Bool
    @Persisted var required: Int?
    @Persisted var encrypted: Data
    @Persisted var cascade: Words?
    @Persisted var column: String
    @Persisted var `is key`: Bool
}

private class Dotted: Release {
    @Persisted var `a.b`: Bool
}

@Suite("Schemas and files")
struct SchemaTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func fill(synced: Bool = false) throws {
        let realm = try Realm.fresh(folder.configuration(synced: synced, types: [V1.Student.self]))
        try realm.write { realm.create(V1.Student.self, value: ["_id": 1, "name": "Ada", "nickname": "A"]) }
    }

    @Test("A class may have properties named key, indexed, required, encrypted and cascade")
    func wordsAsNames() throws {
        let configuration = folder.configuration(types: [Words.self])
        do {
            let realm = try Realm.fresh(configuration)
            try realm.write {
                let first = realm.create(Words.self, value: ["id": 1, "key": "k", "required": 2, "is key": true])
                realm.create(Words.self, value: ["id": 2, "cascade": first])
            }
        }
        let words = try Realm.fresh(configuration).objects(Words.self)
        #expect(words[0].key == "k" && words[0].required == 2 && words[0].`is key` && words[1].cascade == words[0])
        #expect(words.where { $0.`is key` }.map(\.id) == [1])
    }

    @Test("A property with a dot in its name is refused")
    func dottedName() throws {
        let error = #expect(throws: Realm.Error.self) {
            try Realm.fresh(folder.configuration(types: [Dotted.self]))
        }
        #expect(error?.message.contains("Dotted.`a.b` has a dot in its name") == true, "\(error?.message ?? "")")
    }

    @Test("Changed classes without a new version are refused, naming every difference")
    func mismatch() throws {
        try fill()
        let error = #expect(throws: Realm.Error.self) {
            try Realm.fresh(folder.configuration(types: [V2.Student.self]))
        }
        #expect(error?.code == .schemaMismatch)
        for part in [
            "'Student.grade' has been added", "'Student.email' has been added", "'Student.nickname' has been removed",
            "Raise schemaVersion above 0",
        ] {
            #expect(error?.message.contains(part) == true, "\(part)")
        }
        let realm = try Realm.fresh(folder.configuration(types: [V1.Student.self]))
        #expect(realm.objects(V1.Student.self).first?.nickname == "A")
    }

    @Test("A new version may add and remove properties and classes, and rows stay")
    func raisedVersion() throws {
        try fill()
        do {
            let realm = try Realm.fresh(folder.configuration(version: 3, types: [V2.Student.self, Note.self]))
            let ada = try #require(realm.objects(V2.Student.self).first)
            #expect(ada.name == "Ada" && ada.grade == 0 && ada.email == nil && ada.friends.isEmpty)
            try realm.write {
                ada.grade = 4
                ada.friends.append(ada)
            }
        }
        let error = #expect(throws: Realm.Error.self) {
            try Realm.fresh(folder.configuration(version: 2, types: [V2.Student.self]))
        }
        #expect(error?.message.contains("less than last set version 3") == true)
    }

    @Test("A synced file takes changed properties without a version, and its queue drops removed ones")
    func syncedChanges() throws {
        try fill(synced: true)
        let realm = try Realm.fresh(folder.configuration(synced: true, types: [V2.Student.self]))
        #expect(realm.objects(V2.Student.self).first?.name == "Ada")
        let queued = try ChangesetQueue(realm.core.file).changesets(after: 0)
        let student = try #require(realm.core.schema.index(of: "Student"))
        let name = try #require(realm.core.schema[student].columnIndex("name"))
        #expect(
            queued.map(\.instructions) == [
                [
                    .create(
                        ObjectReference(classIndex: student, key: .int(1)),
                        [FieldWrite(column: name, value: .string("Ada"))])
                ]
            ])
    }

    @Test("Changed types need a migration even with a new version, unless the file may be deleted")
    func otherTypes() throws {
        try fill()
        var configuration = folder.configuration(version: 5, types: [Wrong.Student.self])
        let error = #expect(throws: Realm.Error.self) { try Realm.fresh(configuration) }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("'Student.name' has been changed from 'string' to 'int'") == true)
        #expect(error?.message.contains("'Student.nickname' has been made required") == true)
        configuration.deleteRealmIfMigrationNeeded = true
        let realm = try Realm.fresh(configuration)
        #expect(realm.objects(Wrong.Student.self).isEmpty)
    }

    @Test("A file that isn't a database, a missing file and another kind of file each get their own error")
    func badFiles() throws {
        let configuration = folder.configuration()
        var readOnly = configuration
        readOnly.readOnly = true
        #expect(throws: Realm.Error.self) { try Realm.fresh(readOnly) }
        do {
            _ = try Realm.fresh(readOnly)
        } catch Realm.Error.fileNotFound {}
        try Data(repeating: 7, count: 5_000).write(to: try #require(configuration.fileURL))
        do {
            _ = try Realm.fresh(configuration)
            Issue.record("The file was opened.")
        } catch Realm.Error.invalidDatabase {}
        #expect(try Realm.deleteFiles(for: configuration))
        _ = try Realm.fresh(folder.configuration(synced: true))
        do {
            _ = try Realm.fresh(configuration)
            Issue.record("A synced file was opened as a local one.")
        } catch Realm.Error.incompatibleHistories {}
    }

    @Test("A read-only Realm can read but not write")
    func readOnly() throws {
        try fill()
        var configuration = folder.configuration(types: [V1.Student.self])
        configuration.readOnly = true
        let realm = try Realm.fresh(configuration)
        #expect(realm.objects(V1.Student.self).count == 1)
        let error = #expect(throws: Realm.Error.self) { try realm.write { realm.deleteAll() } }
        #expect(error?.code == .filePermissionDenied)
        realm.beginWrite()
        #expect(throws: Realm.Error.self) { try realm.commitWrite() }
    }

    @Test("A synced class needs an _id")
    func syncedKey() throws {
        let error = #expect(throws: Realm.Error.self) {
            try Realm.fresh(folder.configuration(synced: true, types: [Note.self]))
        }
        #expect(error?.message.contains("Note cannot be synced") == true)
    }

    @Test("In-memory Realms are shared by identifier and end with the last one")
    func inMemory() throws {
        let identifier = UUID().uuidString
        let configuration = Realm.Configuration(inMemoryIdentifier: identifier, objectTypes: [Note.self])
        #expect(configuration.fileURL == nil)
        var one: Realm? = try Realm.fresh(configuration)
        var two: Realm? = try Realm.fresh(configuration)
        let other = try Realm.fresh(.init(inMemoryIdentifier: identifier + "2", objectTypes: [Note.self]))
        try one?.write { one?.add(Note(value: ["text": "a"])) }
        two?.refresh()
        #expect(two?.objects(Note.self).count == 1)
        #expect(other.isEmpty)
        let path = try #require(one?.core.file.path)
        #expect(FileManager.default.fileExists(atPath: path))
        one = nil
        #expect(FileManager.default.fileExists(atPath: path))
        two = nil
        #expect(!FileManager.default.fileExists(atPath: path))
        let again = try Realm.fresh(configuration)
        #expect(again.isEmpty)
    }

    @Test("An open file can't be deleted")
    func deleteOpen() throws {
        let configuration = folder.configuration()
        var realm: Realm? = try Realm.fresh(configuration)
        let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
        #expect(error?.code == .alreadyOpen)
        #expect(realm != nil)
        var frozen = realm?.objects(Room.self).freeze()
        realm = nil
        let second = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
        #expect(second?.code == .alreadyOpen)
        #expect(frozen?.count == 0)
        frozen = nil
        #expect(try Realm.deleteFiles(for: configuration))
        #expect(!Realm.fileExists(for: configuration))
    }

    @Test("When several threads reopen a file that must be deleted, one of them deletes it")
    func deletedForSeveral() async throws {
        do { _ = try Realm.fresh(folder.configuration(types: [V1.Student.self])) }
        var new = folder.configuration(types: [V2.Student.self])
        new.deleteRealmIfMigrationNeeded = true
        let configuration = new
        let opened = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let realm = try Realm.fresh(configuration)
                    return realm.isEmpty && FileManager.default.fileExists(atPath: realm.core.file.path)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(opened == [true, true])
    }

    @Test("A file found not to fit isn't deleted if another thread has recreated it since")
    func madeAnew() throws {
        var configuration = folder.configuration(types: [V2.Student.self])
        configuration.deleteRealmIfMigrationNeeded = true
        let types = try configuration.modelClasses()
        let schema = try Schema.of(types)
        let path = RealmFiles.path(of: try #require(configuration.fileURL))
        func delete() throws {
            try RealmCache.delete(path) { try configuration.isMismatched(path, schema, types, isInMemory: false) }
        }
        do { _ = try Realm.fresh(folder.configuration(types: [V1.Student.self])) }
        try delete()
        #expect(!Realm.fileExists(for: configuration))
        do {
            let realm = try Realm.fresh(configuration)
            try realm.write { realm.create(V2.Student.self, value: ["_id": 1]) }
        }
        try delete()
        #expect(try Realm.fresh(configuration).objects(V2.Student.self).count == 1)
    }
}
