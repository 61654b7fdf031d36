import Foundation
import Testing

@testable import Tombolo
@testable import TomboloSQLiteStore

class Diary: Release {
    @Persisted(primaryKey: true) var day: Int
    @Persisted var text: String
}

private enum Later {
    class Diary: Release {
        @Persisted(primaryKey: true) var day: Int
        @Persisted var text: String
        @Persisted(indexed: true) var mood: String
    }
}

/// The tests run in separate processes, since the umask is per process.
@Suite("Permissions of files on a device")
struct FilePermissionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// `name mode` of each file that isn't private to its owner.
    private static func open(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().compactMap { name in
            var status = stat()
            guard stat(folder.appending(path: name).path, &status) == 0, status.st_mode & 0o777 != 0o600 else {
                return nil
            }
            return "\(name) \(String(status.st_mode & 0o777, radix: 8))"
        }
    }

    private static func configuration(_ folder: URL, _ name: String = "diary") -> Realm.Configuration {
        .init(fileURL: folder.appending(path: "\(name).sqlite"), objectTypes: [Diary.self])
    }

    @Test(
        "A Realm's file, SQLite's files beside it, copies and seeded files are private to the user",
        arguments: [0o000, 0o022, 0o777] as [UInt32])
    func whateverTheUmask(mask: UInt32) async throws {
        await #expect(processExitsWith: .success) { [folder = folder.url.path as String, mask = mask as UInt32] in
            umask(mode_t(mask))
            let folder = URL(fileURLWithPath: folder)
            do {
                let realm = try Realm(configuration: Self.configuration(folder))
                try realm.write { for day in 0..<100 { realm.create(Diary.self, value: ["day": day]) } }
                #expect(try Self.open(folder) == [])
                try #require(FileManager.default.fileExists(atPath: folder.path + "/diary.sqlite-wal"))
                try realm.writeCopy(toFile: folder.appending(path: "copy.sqlite"))
                // A seed with a write-ahead log.
                var seeded = Self.configuration(folder, "seeded")
                seeded.seedFilePath = folder.appending(path: "diary.sqlite")
                #expect(try Realm(configuration: seeded).objects(Diary.self).count == 100)
                #expect(try Self.open(folder) == [])
            }
            var later = Self.configuration(folder)
            later.objectTypes = [Later.Diary.self]
            later.schemaVersion = 1
            later.shouldCompactOnLaunch = { _, _ in true }
            later.migrationBlock = { migration, _ in
                migration.enumerateObjects(ofType: "Diary") { _, new in new?["mood"] = "calm" }
                let isPrivate = (try? Self.open(folder)) == []
                #expect(isPrivate)
            }
            #expect(try Realm(configuration: later).objects(Later.Diary.self).where { $0.mood == "calm" }.count == 100)
            #expect(try Self.open(folder) == [])
        }
        #expect(try Self.open(folder.url) == [])
    }

    @Test("Files that others can read become private the next time they're opened")
    func closedWhenOpened() throws {
        let realm = try Realm.fresh(Self.configuration(folder.url))
        try realm.write { realm.create(Diary.self, value: ["day": 1]) }
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o664], ofItemAtPath: folder.url.appending(path: "diary.sqlite\(suffix)").path)
        }
        #expect(try Self.open(folder.url).count == 3)
        _ = try Realm.fresh(Self.configuration(folder.url))
        #expect(try Self.open(folder.url) == [])
        #expect(realm.objects(Diary.self).count == 1)
    }

    @Test("Opening read-only leaves permissions alone")
    func readOnly() throws {
        try Realm.fresh(Self.configuration(folder.url)).writeCopy(toFile: folder.url.appending(path: "copy.sqlite"))
        let copy = folder.url.appending(path: "copy.sqlite").path
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: copy)
        var configuration = Self.configuration(folder.url, "copy")
        configuration.readOnly = true
        _ = try Realm(configuration: configuration)
        #expect(try Self.open(folder.url) == ["copy.sqlite 444"])
    }

    @Test("The folder of in-memory Realms is private to the user")
    func memory() async throws {
        await #expect(processExitsWith: .success) {
            umask(0)
            let realm = try Realm(configuration: .init(inMemoryIdentifier: "diary", objectTypes: [Diary.self]))
            let folder = URL(fileURLWithPath: realm.core.file.path).deletingLastPathComponent()
            var status = stat()
            #expect(stat(folder.path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700)
            #expect(try Self.open(folder) == [])
        }
    }
}
