import DatabaseManager
import Foundation
import GRDB
import RealmSwift
import ChildPrograms
import Testing

/// Serialised, since there is one databases' folder per process.
@Suite(.serialized) struct DatabaseManagerTests {
    private let folder: URL
    private let files: Files

    /// Removes the folder after the test.
    private final class Files {
        let parent = FileManager.default.temporaryDirectory.appending(path: "database-test-\(UUID().uuidString)")

        deinit { try? FileManager.default.removeItem(at: parent) }

        /// Every file in the folder and its subfolders, except for SQLite's auxiliary files.
        var names: Set<String> {
            let all = FileManager.default.enumerator(atPath: parent.path)?.compactMap { $0 as? String } ?? []
            return Set(all.filter { name in !["-wal", "-shm", "Database"].contains { name.hasSuffix($0) } })
        }
    }

    init() {
        files = Files()
        folder = files.parent.appending(path: "Database")
        DatabaseFolder.url = folder
    }

    private func tables(_ name: String) throws -> Set<String> {
        let queue = try DatabaseQueue(path: folder.appending(path: name).path)
        return Set(
            try queue.read {
                try String.fetchAll(
                    $0, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'tombolo%'")
            })
    }

    @Test("Each schema has its own file, which contains only its tables")
    func separateFiles() throws {
        try addStudent()
        try addClassRoom()
        #expect(files.names == ["Database/Student.realm", "Database/ClassRoom.realm"])
        #expect(try tables("Student.realm").filter { !$0.hasPrefix("sqlite_") } == ["student_repository"])
        let rooms = try tables("ClassRoom.realm").filter { !$0.hasPrefix("sqlite_") }
        #expect(rooms.contains("class_room_repository"))
        #expect(rooms.allSatisfy { $0.hasPrefix("class_room_repository") })

        // Adding the same objects again doesn't add rows.
        try addStudent()
        try addClassRoom()
        let students = try #require(StudentRepository().realm(with: .inStorage)).objects(StudentRepository.self)
        #expect(students.map(\.name) == ["Josh"])
        let classRooms = try #require(ClassRoomRepository().realm(with: .inStorage)).objects(ClassRoomRepository.self)
        #expect(classRooms.count == 1 && classRooms.first.map { Array($0.studentIds) } == ["1"])
    }

    private func addStudent() throws {
        let student = StudentRepository()
        student.id = 1.description
        student.name = "Josh"
        let realm = student.realm(with: .inStorage)
        try realm?.write {
            realm?.add(student, update: .all)
        }
    }

    private func addClassRoom() throws {
        let classRoom = ClassRoomRepository()
        classRoom.id = 1.description
        classRoom.name = "A room"
        classRoom.studentIds.append("1")
        let realm = classRoom.realm(with: .inStorage)
        try realm?.write {
            realm?.add(classRoom, update: .all)
        }
    }

    // MARK: In memory

    @Test("In-memory databases have no file, and identifiers keep them apart")
    func inMemory() throws {
        func realm(_ identifier: String) throws -> Realm {
            try StudentRepository().openRealm(with: .inMemory(identifier: identifier))
        }
        let one = try realm("one")
        try one.write { _ = one.create(StudentRepository.self, value: ["id": "1"]) }
        #expect(try realm("one").objects(StudentRepository.self).count == 1)
        #expect(try realm("two").isEmpty)
        #expect(try realm("../one").isEmpty)
        #expect(try StudentRepository().openRealm(with: .inStorage).isEmpty)
        // Another schema with the same identifier has its own tables and version.
        let other = NamedDatabase(schemaName: "Other", schemaVersion: 7)
        #expect(try other.openRealm(with: .inMemory(identifier: "one")).isEmpty)
        #expect(files.names == ["Database/Student.realm"])
    }

    @Test("An in-memory database ends with its last open Realm", .timeLimit(.minutes(10)))
    func memoryLifetime() async throws {
        func add() throws {
            let realm = try StudentRepository().openRealm(with: .inMemory(identifier: "short"))
            try realm.write { _ = realm.create(StudentRepository.self, value: ["id": "1"]) }
        }
        try add()
        // Another thread that is going through the open databases may keep it alive for a moment.
        while try !StudentRepository().openRealm(with: .inMemory(identifier: "short")).isEmpty {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("RealmErrorType's cases work as catch patterns")
    func catching() throws {
        do {
            _ = try StudentRepository().openRealm(with: .inMemory(identifier: nil)) as Realm
            Issue.record("The Realm was opened.")
        } catch RealmErrorType.configurationFailure {}
    }

    @Test(
        "An in-memory database needs an identifier",
        arguments: [nil, ""])
    func missingIdentifier(_ identifier: String?) {
        #expect(StudentRepository().realm(with: .inMemory(identifier: identifier)) == nil)
        #expect(throws: RealmErrorType.configurationFailure) {
            try StudentRepository().openRealm(with: .inMemory(identifier: identifier))
        }
    }

    @Test("RealmMemoryType.associated is the identifier")
    func associated() {
        #expect(RealmMemoryType.inMemory(identifier: "x").associated == "x")
        #expect(RealmMemoryType.inMemory(identifier: nil).associated == nil)
        #expect(RealmMemoryType.inStorage.associated == nil)
    }

    // MARK: Versions

    @Test("A migration block receives the file's previous version")
    func oldVersion() throws {
        func database(_ version: UInt64) -> NamedDatabase {
            NamedDatabase(schemaName: "Student", schemaVersion: version) { migration, old in
                migration.enumerateObjects(ofType: "StudentRepository") { _, new in new?["name"] = "from \(old)" }
            }
        }
        func names(_ version: UInt64) throws -> [String] {
            try database(version).openRealm(with: .inStorage).objects(StudentRepository.self).map(\.name)
        }
        try addStudent()
        #expect(try names(0) == ["Josh"])
        #expect(try names(3) == ["from 0"])
        #expect(try names(3) == ["from 0"])
        #expect(try names(4) == ["from 3"])
    }

    @Test("A version lower than the file's is refused")
    func lowerVersion() throws {
        _ = try NamedDatabase(schemaName: "Student", schemaVersion: 3).openRealm(with: .inStorage)
        let error = #expect(throws: RealmErrorType.realmIsEmpty) {
            try NamedDatabase(schemaName: "Student", schemaVersion: 2).openRealm(with: .inStorage)
        }
        #expect(error?.description.contains("schema version 2 is less than last set version 3") == true)
    }

    // MARK: Legacy

    @Test("Without its own name, version and migration, a database uses the legacy database's")
    func legacyDefaults() throws {
        let first = NamedDatabase()
        #expect(first.fileName == "Default" && first.absolutelySchemaVersion == 0)
        #expect(first.path == folder.appending(path: "Default"))
        do {
            let realm = try first.openRealm(with: .inStorage)
            try realm.write { _ = realm.create(StudentRepository.self, value: ["id": "1"]) }
        }
        let second = VersionedLegacy(legacySchemaVersion: 1) { migration, old in
            migration.enumerateObjects(ofType: "StudentRepository") { _, new in new?["name"] = "from \(old)" }
        }
        #expect(second.absolutelySchemaVersion == 1)
        let students = try second.openRealm(with: .inStorage).objects(StudentRepository.self)
        #expect(students.map(\.name) == ["from 0"])
        #expect(files.names == ["Database/Default"])
    }

    #if os(Linux)
        @Test("With nothing configured, a file named Default contains all of a program's classes")
        func unconfigured()
            async throws
        {
            let program = try BuiltProgram("LegacyDatabase")
            for _ in 0..<2 {
                let outcome = try await program.run([], environment: ["XDG_DATA_HOME": files.parent.path])
                #expect(outcome.output == "\(files.parent.path)/LegacyDatabase/Database/Default 1 1\n")
            }
            #expect(files.names.filter { !$0.hasSuffix("LegacyDatabase") } == ["LegacyDatabase/Database/Default"])
        }
    #endif

    // MARK: Names

    @Test(
        "A schema name that can't be a file name is refused, and no file is created",
        arguments: [
            "../x", "a/b", "/tmp/x", "..", ".", ".hidden", "", "a\0b", "a\nb", "a\\b", "C:x", "\u{7F}", "a/../../b",
            String(repeating: "x", count: 201), String(repeating: "é", count: 101),
            String(repeating: "x", count: 1_000_000),
        ])
    func badNames(_ name: String) throws {
        let database = NamedDatabase(schemaName: name)
        #expect(database.path == nil)
        #expect(database.realm(with: .inStorage) == nil)
        #expect(database.realm(with: .inMemory(identifier: "x")) == nil)
        let error = #expect(throws: RealmErrorType.self) { try database.openRealm(with: .inStorage) }
        #expect(error?.code == .configurationFailure)
        #expect(error?.reason?.message.contains("schemaName") == true)
        #expect(files.names.isEmpty)
    }

    @Test(
        "Any other schema name becomes the file name",
        arguments: [
            "Student", "a b", "a%2Fb", "..x".replacing("..", with: "x.."), "é😀?#&", String(repeating: "x", count: 200),
        ])
    func goodNames(_ name: String) throws {
        let database = NamedDatabase(schemaName: name)
        #expect(database.fileName == "\(name).realm")
        _ = try database.openRealm(with: .inStorage)
        #expect(files.names == ["Database/\(name).realm"])
    }

    // MARK: Errors

    @Test("The error of a Realm that can't be opened says why")
    func openError() throws {
        try FileManager.default.createDirectory(at: files.parent, withIntermediateDirectories: true)
        try Data("a file".utf8).write(to: folder)
        #expect(StudentRepository().realm(with: .inStorage) == nil)
        let error = #expect(throws: RealmErrorType.realmIsEmpty) {
            try StudentRepository().openRealm(with: .inStorage)
        }
        #expect(error?.reason?.code == .fileAccess)
        #expect(error?.description.contains("Database") == true)
    }
}
