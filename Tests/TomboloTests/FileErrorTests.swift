import ChildPrograms
import Foundation
import Testing
import TomboloChangesets
import TomboloModel

@testable import Tombolo
@testable import TomboloSQLiteStore

@Suite("Unusable files")
struct FileErrorTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.url.appending(path: "test.sqlite").path }

    private func fill(_ count: Int = 200) throws {
        let realm = try Realm(configuration: folder.configuration())
        try realm.write {
            for number in 1...count { realm.add(Session(number, String(repeating: "t", count: 100))) }
        }
    }

    /// Moves all data into the file itself, so that the test can change its bytes.
    private func settle() throws {
        let connection = try SQLiteConnection(path: path, durability: .full)
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private func requireWhole(_ name: String = "test.sqlite", count: Int64) throws {
        let connection = try SQLiteConnection(path: folder.url.appending(path: name).path, durability: .full)
        let statement = try connection.statement("PRAGMA integrity_check")
        #expect(try statement.step() && statement.text(at: 0) == "ok")
        statement.reset()
        #expect(try connection.integer("SELECT count(*) FROM session") == count)
    }

    private func error(_ configuration: Realm.Configuration) -> Realm.Error? {
        #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
    }

    private func change(_ body: (inout Data) -> Void) throws {
        try settle()
        try rewrite(body)
    }

    private func rewrite(_ body: (inout Data) -> Void) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        body(&bytes)
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    // MARK: Places

    @Test("A missing folder is created; one that can't be created is named")
    func folders() throws {
        var configuration = folder.configuration()
        configuration.fileURL = folder.url.appending(path: "a/b/c.sqlite")
        _ = try Realm(configuration: configuration)
        try Data([1]).write(to: folder.url.appending(path: "file"))
        configuration.fileURL = folder.url.appending(path: "file/c.sqlite")
        let refused = error(configuration)
        #expect(refused?.code == .fileAccess)
        #expect(
            refused?.message.contains("Can't create the folder '\(folder.url.appending(path: "file").path)'")
                == true)
    }

    #if os(Linux)
        @Test("Files whose names only look the same are different files")
        func similarNames() throws {
            var (one, other) = (folder.configuration(), folder.configuration())
            one.fileURL = folder.url.appending(path: "caf\u{e9}.sqlite")
            other.fileURL = folder.url.appending(path: "cafe\u{301}.sqlite")
            let (first, second) = (try Realm(configuration: one), try Realm(configuration: other))
            try first.write { first.add(Session(1, "first")) }
            #expect(second.objects(Session.self).isEmpty)
            try second.write { second.add(Session(1, "second")) }
            #expect(first.objects(Session.self).map(\.title) == ["first"])
            // They may differ in their settings, and one can be deleted while the other is open.
            var third = one
            third.fileURL = folder.url.appending(path: "\u{e9}.sqlite")
            _ = try Realm(configuration: third)
            var newer = third
            newer.fileURL = folder.url.appending(path: "e\u{301}.sqlite")
            newer.schemaVersion = 1
            let kept = try Realm(configuration: newer)
            #expect(try Realm.deleteFiles(for: third))
            #expect(kept.isEmpty && FileManager.default.fileExists(atPath: newer.fileURL?.path ?? ""))
        }
    #endif

    @Test("A folder where the file should be is named")
    func folderInPlace() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let refused = error(folder.configuration())
        #expect(refused?.code == .fileAccess)
        #expect(refused?.message.contains("Can't open '\(path)'") == true, "\(refused?.message ?? "")")
    }

    @Test(
        "A file without permission is left alone, and the error names it and says what to do",
        .enabled(if: LocalAppProcess.canRunAsOrdinaryUser, "Root's privileges cannot be dropped without setpriv."))
    func permissions() async throws {
        try await LocalAppProcess.run("fill", path, "3")
        let folderPath = folder.url.path
        func allow(_ file: Int, _ folder: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: file], ofItemAtPath: path)
            try FileManager.default.setAttributes([.posixPermissions: folder], ofItemAtPath: folderPath)
        }
        defer { try? allow(0o600, 0o700) }
        try allow(0o400, 0o500)
        let unwritable = try await LocalAppProcess.runAsOrdinaryUser("try", path)
        #expect(unwritable.hasPrefix("filePermissionDenied: This user can't write '\(path)'"))
        try allow(0, 0o500)
        let unreadable = try await LocalAppProcess.runAsOrdinaryUser("try", path)
        #expect(unreadable.hasPrefix("filePermissionDenied: This user can't read '\(path)'"))
        try allow(0o600, 0o700)
        #expect(try await LocalAppProcess.runAsOrdinaryUser("try", path) == "written")
        #expect(try await LocalAppProcess.run("check", path).hasPrefix("old 4 "))
    }

    @Test("Writing to a file moved or deleted under an open Realm is refused, and its data survives")
    func moved() throws {
        try fill()
        let realm = try Realm(configuration: folder.configuration())
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.moveItem(atPath: path + suffix, toPath: path + ".moved" + suffix)
        }
        let refused = #expect(throws: Realm.Error.self) { try realm.write { realm.add(Session(1_000, "lost")) } }
        #expect(refused?.code == .fileNotFound)
        #expect(refused?.message.contains("was deleted, moved or replaced while it was open") == true)
        #expect(realm.objects(Session.self).count == 200)
        try requireWhole("test.sqlite.moved", count: 200)
    }

    @Test("A full disk rolls back the write, and the next one that fits succeeds")
    func full() throws {
        try fill()
        do {
            let realm = try Realm(configuration: folder.configuration())
            let pages = try realm.core.connection.integer("PRAGMA page_count") ?? 0
            _ = try realm.core.connection.integer("PRAGMA max_page_count = \(pages + 4)")
            let refused = #expect(throws: Realm.Error.self) {
                try realm.write {
                    for number in 1_000...3_000 { realm.add(Session(number, String(repeating: "f", count: 500))) }
                }
            }
            #expect(refused?.code == .outOfDiskSpace)
            #expect(refused?.message.contains("Free some") == true)
            #expect(realm.objects(Session.self).count == 200)
            try realm.write { realm.add(Session(1_000, "small")) }
        }
        try requireWhole(count: 201)
    }

    // MARK: Contents

    @Test("A changed header, a foreign file and half a file are each refused")
    func damaged() throws {
        try fill()
        try change { $0[3] ^= 0xff }
        let header = error(folder.configuration())
        #expect(header?.code == .invalidDatabase)
        #expect(header?.message.contains("Restore it from a backup or delete it") == true)
        try rewrite {
            $0[3] ^= 0xff
            $0 = $0.prefix($0.count / 2)
        }
        let half = error(folder.configuration())
        #expect(half?.code == .invalidDatabase, "\(half?.message ?? "")")
        try Data("This is no database, but it is long enough to be one.".utf8).write(to: URL(fileURLWithPath: path))
        #expect(error(folder.configuration())?.code == .invalidDatabase)
        try #expect(Data(contentsOf: URL(fileURLWithPath: path)).starts(with: "This is".utf8))
    }

    @Test("Another program's database is left alone")
    func foreign() throws {
        do {
            let connection = try SQLiteConnection(path: path, durability: .full)
            try connection.execute("CREATE TABLE theirs (a INTEGER)")
        }
        let refused = error(folder.configuration())
        #expect(refused?.code == .invalidDatabase)
        #expect(refused?.message.contains("not a Tombolo file") == true)
        let connection = try SQLiteConnection(path: path, durability: .full)
        #expect(try connection.integer("SELECT count(*) FROM sqlite_schema") == 1)
    }

    @Test("A damaged page is reported when it's read")
    func page() throws {
        try fill()
        let connection = try SQLiteConnection(path: path, durability: .full)
        let root = try #require(try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'session'"))
        let size = try #require(try connection.integer("PRAGMA page_size"))
        try change { bytes in
            for offset in 0..<Int(size) { bytes[Int(root - 1) * Int(size) + offset] = 0xff }
        }
        let file = try StoreFile(
            path: path, schema: Schema.of([Session.self]), options: StoreOptions(isSynced: false, durability: .full),
            newClient: .init(rawValue: 1))
        let refused = #expect(throws: SQLiteStoreError.self) {
            _ = try file.connection.integer("SELECT count(title) FROM session")
        }
        #expect(refused?.code == .invalidDatabase)
    }

    @Test("A file in a newer format is refused and left alone")
    func newer() throws {
        try fill()
        do {
            let connection = try SQLiteConnection(path: path, durability: .full)
            try connection.execute("UPDATE tombolo_meta SET format = 99")
        }
        let refused = error(folder.configuration())
        #expect(refused?.code == .unsupportedFileFormatVersion)
        #expect(
            refused?.message.contains("has format 99") == true && refused?.message.contains("Update the app") == true)
        try requireWhole(count: 200)
    }

    @Test("A file that needs a migration can't be opened read-only; classes it lacks are empty")
    func readOnly() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [R1.Person.self, R1.Place.self]))
            try realm.write { realm.create(R1.Person.self, value: ["id": 1]) }
        }
        var configuration = folder.release(1, [R2.Person.self, R2.Place.self])
        configuration.readOnly = true
        let refused = error(configuration)
        #expect(refused?.code == .schemaMismatch)
        #expect(refused?.message.contains("Open it for writing once to migrate it") == true)
        configuration = folder.release(0, [R1.Person.self, Room.self])
        configuration.readOnly = true
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(R1.Person.self).count == 1 && realm.objects(Room.self).isEmpty)
    }

    @Test("After another program's VACUUM, every instance keeps its object, whatever its key")
    func vacuum() throws {
        let realm = try Realm(configuration: folder.configuration(types: personClasses))
        try realm.write {
            for number in 0..<300 {
                realm.add(Order(value: ["order \(number)"]))
                let person = Person(value: [number, "p\(number)"])
                person.dogs.append(Dog("dog \(number)"))
                person.others.append(Address("street \(number)"))
                realm.add(person)
            }
        }
        try realm.write {
            realm.delete(realm.objects(Order.self).filter("NOT _id ENDSWITH '7'"))
            realm.delete(realm.objects(Person.self).filter("NOT name ENDSWITH '7'"))
        }
        let orders = Array(realm.objects(Order.self))
        let people = Array(realm.objects(Person.self))
        let homes = people.map { $0.others[0] }
        let dogs = people.map { $0.dogs[0] }
        try realm.write { realm.delete(realm.objects(Dog.self).filter("NOT name ENDSWITH '7'")) }
        let connection = try SQLiteConnection(path: path, durability: .full)
        try connection.execute("VACUUM")
        realm.refresh()
        #expect(orders.map(\._id) == (0..<30).map { "order \($0 * 10 + 7)" })
        #expect(people.map(\.name) == (0..<30).map { "p\($0 * 10 + 7)" })
        #expect(homes.map(\.street) == (0..<30).map { "street \($0 * 10 + 7)" })
        #expect(dogs.map(\.name) == (0..<30).map { "dog \($0 * 10 + 7)" })
        #expect(people.map { $0.dogs[0] } == dogs)
    }

    // MARK: Several processes

    @Test("Two processes writing at once both keep all their objects")
    func twoProcesses() async throws {
        let path = folder.url.appending(path: "shared.sqlite").path
        try await LocalAppProcess.run("fill", path, "1")
        let first = try await LocalAppProcess.start("write", path, "A", "100")
        let second = try await LocalAppProcess.start("write", path, "B", "100")
        #expect(try await first.outcome().status == 0)
        #expect(try await second.outcome().status == 0)
        let connection = try SQLiteConnection(path: path, durability: .full)
        #expect(try connection.integer("SELECT count(*) FROM person") == 201)
        let statement = try connection.statement("PRAGMA integrity_check")
        #expect(try statement.step() && statement.text(at: 0) == "ok")
        statement.reset()
    }
}
