import Foundation
import Testing
import TomboloModel

@testable import Tombolo
@testable import TomboloSQLiteStore

@Suite("Configurations and copies")
struct ConfigurationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("The arguments have Realm's order, and the description doesn't show the key")
    func arguments() {
        let configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: "/tmp/x.sqlite"), inMemoryIdentifier: nil, syncConfiguration: nil,
            encryptionKey: Data(repeating: 0x41, count: 64), readOnly: false, schemaVersion: 4,
            migrationBlock: { migration, oldSchemaVersion in
                if oldSchemaVersion < 1 { migration.enumerateObjects(ofType: "Note") { _, _ in } }
            }, deleteRealmIfMigrationNeeded: false, shouldCompactOnLaunch: { total, used in total > 2 * used },
            objectTypes: [Note.self], seedFilePath: URL(fileURLWithPath: "/tmp/seed.sqlite"))
        let text = configuration.description
        #expect(text.contains("fileURL = /tmp/x.sqlite") && text.contains("schemaVersion = 4"))
        #expect(text.contains("encryptionKey = (64 bytes, not shown)"))
        #expect(!text.contains("AAAA") && !text.contains("QUFB") && !text.contains("4141"))
    }

    // MARK: One file, several openings

    @Test("An open file can't be opened with another configuration; a closed one can")
    func conflicts() throws {
        let configuration = folder.configuration()
        let changes: [(String, (inout Realm.Configuration) -> Void)] = [
            ("different read permissions", { $0.readOnly = true }),
            ("different schema version (0, not 1)", { $0.schemaVersion = 1 }),
            ("different sync configuration", { $0.keepsUploadQueue = true }),
            ("a different encryption key", { $0.encryptionKey = Data(count: 64) }),
        ]
        do {
            let realm = try Realm(configuration: configuration)
            for (message, change) in changes {
                var other = configuration
                change(&other)
                let error = #expect(throws: Realm.Error.self) { try Realm(configuration: other) }
                #expect(error?.code == .alreadyOpen, "\(message)")
                #expect(error?.message.contains("already opened with \(message)") == true, "\(error?.message ?? "")")
            }
            try realm.write { realm.add(Room()) }
        }
        var raised = configuration
        raised.schemaVersion = 1
        #expect(try Realm(configuration: raised).objects(Room.self).count == 1)
    }

    @Test("An open Realm doesn't make a file count as open whose path is a suffix of the Realm's")
    func pathAtTheEnd() throws {
        let place = folder.url.path
        var other = folder.configuration(types: [Note.self])
        other.fileURL = URL(fileURLWithPath: "\(place)/test.sqlite")
        var nested = other
        nested.fileURL = URL(fileURLWithPath: "\(place)/a \(place)/test.sqlite")
        let open = try Realm(configuration: nested)
        _ = try Realm.fresh(other)
        #expect(try Realm.deleteFiles(for: other))
        #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: open.configuration) }
    }

    @Test("A Realm reading an old version stops writers at maximumNumberOfActiveVersions")
    func versions() throws {
        var configuration = folder.configuration()
        configuration.maximumNumberOfActiveVersions = 3
        let writer = try Realm(configuration: configuration)
        let queue = DispatchQueue(label: "reader")
        let reader = try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            realm.autorefresh = false
            return Held(realm: realm)
        }
        var written = 0
        let error = #expect(throws: Realm.Error.self) {
            for _ in 0..<10 {
                try writer.write { writer.add(Room()) }
                written += 1
            }
        }
        #expect(written == 3)
        #expect(error?.message.contains("exceeded the limit of 3") == true, "\(error?.message ?? "")")
        queue.sync { _ = reader.realm.refresh() }
        try writer.write { writer.add(Room()) }
        #expect(writer.objects(Room.self).count == 4)
        queue.sync { reader.close() }
    }

    /// Used only on its queue.
    private final class Held: @unchecked Sendable {
        private var held: Realm?
        var realm: Realm { held! }
        init(realm: Realm) { held = realm }
        func close() { held = nil }
    }

    @Test("The folder of in-memory Realms stays until the last one has created its file")
    func memoryFolder() throws {
        let held = try MemoryFile(identifier: UUID().uuidString)
        do { _ = try MemoryFile(identifier: UUID().uuidString) }
        let folder = URL(fileURLWithPath: held.path).deletingLastPathComponent()
        #expect(FileManager.default.fileExists(atPath: folder.path))
        withExtendedLifetime(held) {}
    }

    @Test("The identifier of an in-memory Realm may be longer than a file name", arguments: [10, 200])
    func longMemoryName(count: Int) throws {
        func realm(_ ending: Int) throws -> Realm {
            let identifier = String(repeating: "ä", count: count) + "\(ending)"
            return try Realm(configuration: .init(inMemoryIdentifier: identifier, objectTypes: [Note.self]))
        }
        let (first, second) = (try realm(1), try realm(2))
        try first.write { first.add(Note()) }
        #expect(try second.isEmpty && realm(1) == first)
    }

    // MARK: Classes

    @Test("Two classes with the same name are both named in the error if a Realm lists no classes")
    func duplicates() throws {
        let error = #expect(throws: Realm.Error.self) {
            try DefaultClasses.requireUnique([R1.Note.self, Note.self, Room.self])
        }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.contains("TomboloTests.Note' and 'TomboloTests.R1.Note' are both named 'Note'") == true)
        #expect(error?.message.contains("objectTypes") == true)
    }

    @Test(
        "A program's classes are found, even nested, private and local ones; not generic ones and Object"
    )
    func discovery() {
        class Local: Object {}
        let found = ClassDiscovery.subclasses(of: Object.self).map { ObjectIdentifier($0) }
        for type in [Room.self, R1.Person.self, Hidden.self, Local.self, ConcreteBox.self] as [Object.Type] {
            #expect(found.contains(ObjectIdentifier(type)), "\(type)")
        }
        #expect(!found.contains(ObjectIdentifier(Object.self)))
        #expect(Set(found).count == found.count)
    }

    private class Hidden: Object {}
    private class Box<Content>: Object {}
    private class ConcreteBox: Box<Int> {}

    @Test("A Realm that lists no classes has all of the program's")
    func defaultClasses() async throws {
        #expect(try await LocalAppProcess.run("classes") == "none listed, 1 found")
    }

    // MARK: Copies

    @Test("A copy holds what the Realm shows, and never overwrites a file")
    func copies() throws {
        let realm = try Realm(configuration: folder.configuration())
        try realm.write { for number in 1...50 { realm.add(Session(number, "Talk \(number)")) } }
        let url = folder.url.appending(path: "copy.sqlite")
        try realm.writeCopy(toFile: url)
        #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
        try realm.write { realm.deleteAll() }
        let error = #expect(throws: Realm.Error.self) { try realm.writeCopy(toFile: url) }
        #expect(error?.code == .fileExists)
        let nowhere = #expect(throws: Realm.Error.self) {
            try realm.writeCopy(toFile: folder.url.appending(path: "none/copy.sqlite"))
        }
        #expect(nowhere?.code == .fileNotFound && nowhere?.message.contains("none' for the copy") == true)
        var copied = folder.configuration()
        copied.fileURL = url
        copied.readOnly = true
        #expect(try Realm(configuration: copied).objects(Session.self).map(\.title).last == "Talk 50")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains("copy.") }
        #expect(left.filter { !$0.hasPrefix("copy.sqlite") || $0.contains("copy-") } == [])
        try realm.write {
            let inWrite = #expect(throws: Realm.Error.self) {
                try realm.writeCopy(toFile: folder.url.appending(path: "other.sqlite"))
            }
            #expect(inWrite?.message.contains("inside a write transaction") == true)
        }
    }

    @Test("A copy holds the version that the Realm reads, not a later one")
    func copyOfVersion() throws {
        let reader = try Realm.fresh(folder.configuration())
        let writer = try Realm.fresh(folder.configuration())
        try writer.write { writer.add(Room()) }
        let url = folder.url.appending(path: "copy.sqlite")
        try reader.writeCopy(toFile: url)
        var copied = folder.configuration()
        copied.fileURL = url
        #expect(try Realm(configuration: copied).objects(Room.self).isEmpty)
    }

    @Test("A copy of a synced file is a local file without the queue")
    func copyOfSynced() throws {
        let realm = try Realm(configuration: folder.configuration(synced: true))
        try realm.write { realm.add(Room()) }
        let url = folder.url.appending(path: "copy.sqlite")
        try realm.writeCopy(toFile: url)
        var copied = folder.configuration()
        copied.fileURL = url
        let copy = try Realm(configuration: copied)
        #expect(copy.objects(Room.self).count == 1)
        #expect(try copy.core.connection.integer("SELECT count(*) FROM tombolo_pending") == 0)
    }

    @Test("A seed file fills a new Realm and leaves an existing one alone")
    func seed() throws {
        let seed = folder.url.appending(path: "seed.sqlite")
        do {
            let realm = try Realm(configuration: folder.configuration())
            try realm.write { realm.add(Session(1, "Seeded")) }
            try realm.writeCopy(toFile: seed)
        }
        var configuration = folder.configuration()
        configuration.fileURL = folder.url.appending(path: "seeded.sqlite")
        configuration.seedFilePath = seed
        do {
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(Session.self).map(\.title) == ["Seeded"])
            try realm.write { realm.deleteAll() }
        }
        #expect(try Realm(configuration: configuration).objects(Session.self).isEmpty)
        configuration.fileURL = folder.url.appending(path: "third.sqlite")
        configuration.seedFilePath = folder.url.appending(path: "nothing.sqlite")
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        #expect(error?.code == .fileNotFound)
        #expect(error?.message.contains("nothing.sqlite") == true)
        #expect(!Realm.fileExists(for: configuration))
    }

    @Test("A seed file is copied along with what's in its write-ahead log")
    func unsettledSeed() throws {
        let realm = try Realm(configuration: folder.configuration())
        try realm.write { realm.add(Session(1, "In the log")) }
        var configuration = folder.configuration()
        configuration.fileURL = folder.url.appending(path: "seeded.sqlite")
        configuration.seedFilePath = folder.configuration().fileURL
        #expect(try Realm(configuration: configuration).objects(Session.self).map(\.title) == ["In the log"])
    }

    @Test("Copies left unfinished by killed processes are deleted with the next copy, the next seed or the file itself")
    func leftovers() throws {
        let url = folder.url.appending(path: "copy.sqlite")
        // A killed process may have had this process's ID. The parent is alive.
        func leave(_ kind: String) throws -> [String] {
            try [ProcessInfo.processInfo.processIdentifier, getppid()].map { process in
                let path = "\(url.path).\(kind)-\(process)-\(UUID().uuidString)"
                for suffix in ["", "-wal"] { try Data("rows".utf8).write(to: URL(fileURLWithPath: path + suffix)) }
                return path
            }
        }
        func remain(_ paths: [String]) -> [Bool] {
            paths.flatMap { [$0, $0 + "-wal"] }.map { FileManager.default.fileExists(atPath: $0) }
        }
        var left = try leave("copy")
        do {
            let realm = try Realm(configuration: folder.configuration())
            try realm.writeCopy(toFile: url)
        }
        #expect(remain(left) == [false, false, true, true])
        left = try leave("seed")
        var seeded = folder.configuration()
        seeded.fileURL = url
        seeded.seedFilePath = folder.configuration().fileURL
        do { _ = try Realm(configuration: seeded) }
        #expect(remain(left) == [false, false, true, true])
        left = try leave("seed")
        #expect(try Realm.deleteFiles(for: seeded))
        #expect(remain(left) == [false, false, true, true])
        #expect(FileManager.default.fileExists(atPath: try #require(folder.configuration().fileURL).path))
    }

    // MARK: Compacting

    @Test("A file is compacted only if shouldCompactOnLaunch says so")
    func compacting() throws {
        let path = try #require(folder.configuration().fileURL).path
        func size() throws -> Int {
            try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        }
        do {
            let realm = try Realm(configuration: folder.configuration())
            try realm.write {
                for number in 1...2_000 { realm.add(Session(number, String(repeating: "x", count: 500))) }
            }
            try realm.write { realm.delete(realm.objects(Session.self).where { $0._id > 10 }) }
        }
        let before = try size()
        #expect(before > 1_000_000)
        var configuration = folder.configuration()
        configuration.shouldCompactOnLaunch = { total, used in
            #expect(total >= before && used < total / 5)
            return false
        }
        do { _ = try Realm(configuration: configuration) }
        #expect(try size() == before)
        configuration.shouldCompactOnLaunch = { _, _ in true }
        #expect(try Realm(configuration: configuration).objects(Session.self).count == 10)
        #expect(try size() < before / 5)
    }

    @Test("Objects without a primary key keep their identity through compaction")
    func compactingKeepsLinks() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [R1.Note.self]))
            try realm.write { for number in 0..<10 { realm.create(R1.Note.self, value: ["text": "\(number)"]) } }
            try realm.write { realm.delete(realm.objects(R1.Note.self).where { $0.text < "5" }) }
        }
        var configuration = folder.release(0, [R1.Note.self])
        configuration.shouldCompactOnLaunch = { _, _ in true }
        let realm = try Realm(configuration: configuration)
        let first = try realm.core.connection.integer("SELECT min(rowid) FROM note")
        #expect(first == 6)
    }
}
