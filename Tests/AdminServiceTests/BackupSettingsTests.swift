import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminService

@Suite("Backups are configured by variables, and the server chooses their names")
struct BackupSettingsTests {
    private static func environment(_ folder: String) async throws -> [String: String] {
        let programs = URL(filePath: try await TestCluster.shared().dumpProgram).deletingLastPathComponent().path()
        return [
            "TOMBOLO_BACKUPS": folder, "TOMBOLO_BACKUP_URL": "postgresql://keeper:hidden@db.example.org/app",
            "PATH": programs,
        ]
    }

    private static func withFolder(mode: Int = 0o700, _ body: @Sendable (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path())
            let path = folder.path()
            try await body(path.last == "/" ? String(path.dropLast()) : path)
        }
    }

    @Test("without the variables there are no backups; with both set, there is one a day and seven are kept")
    func defaults() async throws {
        #expect(try BackupSettings.ofEnvironment([:]) == nil)
        try await Self.withFolder { folder in
            let environment = try await Self.environment("\(folder)/")
            let settings = try #require(try BackupSettings.ofEnvironment(environment))
            #expect(settings.interval == .seconds(86_400) && settings.keptCount == 7 && !settings.folder.hasSuffix("/"))
            #expect(settings.database.user == "keeper")
            let never = environment.merging(["TOMBOLO_BACKUP_EVERY": "0", "TOMBOLO_BACKUP_KEEP": "3"]) { $1 }
            let other = try #require(try BackupSettings.ofEnvironment(never))
            #expect(other.interval == nil && other.keptCount == 3)
        }
    }

    @Test(
        "a wrong setting's message says what to do and doesn't show the password",
        arguments: [
            (["TOMBOLO_BACKUP_URL": ""], "TOMBOLO_BACKUP_URL is not set"),
            (["TOMBOLO_BACKUPS": ""], "TOMBOLO_BACKUPS is not set"),
            (["TOMBOLO_BACKUPS": "backups"], "isn't an absolute path"),
            (["TOMBOLO_BACKUPS": "/nowhere/backups"], "install -d -m 700"),
            (["TOMBOLO_BACKUPS": "/etc/hostname"], "isn't a folder"),
            (["TOMBOLO_BACKUP_URL": "postgresql://keeper:hidden@[x"], "is not a PostgreSQL address"),
            (["TOMBOLO_BACKUP_URL": "host=x sslpassword=hidden"], "sslpassword"),
            (["TOMBOLO_BACKUP_EVERY": "-1"], "TOMBOLO_BACKUP_EVERY is '-1'"),
            (["TOMBOLO_BACKUP_KEEP": "0"], "TOMBOLO_BACKUP_KEEP is '0'"), (["PATH": "/nowhere"], "pg_dump isn't on"),
        ])
    func problems(change: [String: String], expected: String) async throws {
        try await Self.withFolder { folder in
            let environment = try await Self.environment(folder).merging(change) { $1 }
            #expect {
                _ = try BackupSettings.ofEnvironment(environment)
            } throws: { error in
                let text = "\(error)"
                return text.contains(expected) && !text.contains("hidden")
            }
        }
    }

    @Test(
        "a wrong restore setting's message does the same; without the variable, nothing is restored",
        arguments: [
            (["TOMBOLO_BACKUPS": ""], "needs TOMBOLO_BACKUPS"),
            (["TOMBOLO_RESTORE_URL": "postgresql://keeper:hidden@[x"], "is not a PostgreSQL address"),
            (["TOMBOLO_RESTORE_URL": "host=x sslpassword=hidden"], "sslpassword"),
            (["PATH": "/nowhere"], "pg_restore isn't on"),
        ])
    func restoring(change: [String: String], expected: String) async throws {
        let programs = try await TestCluster.shared().programs
        let environment = [
            "PATH": programs, "TOMBOLO_BACKUPS": "/backups",
            "TOMBOLO_RESTORE_URL": "postgresql://keeper:hidden@host/postgres",
        ]
        let settings = try RestoreSettings.ofEnvironment(environment) { _ in }
        #expect(settings?.database.user == "keeper" && settings?.database.database == "postgres")
        #expect(try RestoreSettings.ofEnvironment(["TOMBOLO_BACKUPS": "/backups"]) { _ in } == nil)
        #expect {
            _ = try RestoreSettings.ofEnvironment(environment.merging(change) { $1 }) { _ in }
        } throws: { error in
            let text = "\(error)"
            return text.contains(expected) && !text.contains("hidden")
        }
    }

    @Test("a folder that others may enter is refused, and so is a symbolic link to a folder")
    func folder() async throws {
        try await Self.withFolder(mode: 0o750) { folder in
            #expect(BackupFolder(path: folder).problem?.contains("chmod 700") == true)
        }
        try await Self.withFolder { folder in
            let link = "\(folder)/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder)
            #expect(BackupFolder(path: link).problem?.contains("symbolic link") == true)
        }
    }

    @Test("a name tells when a backup began and whether it was scheduled, and sorts by time")
    func names() throws {
        for (isAutomatic, text) in [
            (false, "tombolo-20260528T202640Z.dump"), (true, "tombolo-20260528T202640Z-auto.dump"),
        ] {
            let name = BackupName(at: BackupSite.start + 999_999, isAutomatic: isAutomatic)
            #expect(name.text == text && name.time == BackupSite.start)
            #expect(BackupName(text) == name)
            #expect(name < BackupName(at: BackupSite.start + BackupSite.second, isAutomatic: false))
        }
    }

    @Test(
        "anything that isn't exactly such a name is rejected",
        arguments: [
            "", "tombolo-.dump", "tombolo-20260528T202640Z", "Tombolo-20260528T202640Z.dump",
            "tombolo-20261328T202640Z.dump", "tombolo-20260528T202640Z .dump", "tombolo-20260528T202640+0000.dump",
            "tombolo-2026-05-28T20:26:40Z.dump", "../tombolo-20260528T202640Z.dump",
            "tombolo-20260528T202640Z.dump/../x.dump", "tombolo-20260528T202640Z.dump.partial",
            "tombolo-20260528T202640Z.dump\0", "tombolo-20260528T202640Z-auto-auto.dump",
        ])
    func otherNames(text: String) {
        #expect(BackupName(text) == nil)
    }

    @Test("a symbolic link with a backup's name isn't a backup")
    func links() async throws {
        try await Self.withFolder { path in
            let folder = BackupFolder(path: path)
            let name = BackupName(at: BackupSite.start, isAutomatic: false)
            try FileManager.default.createSymbolicLink(
                atPath: "\(path)/\(name.text)", withDestinationPath: "/etc/hostname")
            #expect(try folder.files().isEmpty)
            #expect(throws: BackupFailure.self) { _ = try folder.reading(name) }
            #expect(throws: BackupFailure.self) { _ = try folder.create(name) }
        }
    }

    @Test(
        "sizes are shown in a suitable unit",
        arguments: [
            (0, "0 bytes"), (1_023, "1023 bytes"), (1_536, "1.5 KiB"), (611_328, "597 KiB"), (5 << 30, "5.0 GiB"),
        ])
    func sizes(byteCount: Int64, text: String) {
        #expect(ByteSize.text(byteCount) == text)
    }
}
