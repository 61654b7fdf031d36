import Foundation
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminService

@Suite("Failed backups leave nothing behind and say what to do")
struct BackupFailureTests {
    @Test(
        "a program that fails, writes nonsense or doesn't exist leaves no file",
        arguments: [
            ("/bin/false", "/bin/false exited with status 1."), ("/bin/true", "its output isn't a dump"),
            ("/nowhere/pg_dump", "/nowhere/pg_dump exited with status 127"),
        ])
    func program(path: String, expected: String) async throws {
        try await BackupSite.with {
            $0.program = path
        } _: { site in
            try await site.make(at: BackupSite.start)
            let overview = try await site.backups.overview()
            #expect(overview.items.isEmpty && overview.others.count == 1)
            #expect(overview.others.first?.problem?.contains(expected) == true, "\(overview.others)")
            #expect(try site.files() == [])
        }
    }

    @Test("no backup is written to a folder that others have become able to read")
    func openFolder() async throws {
        try await BackupSite.with { site in
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: site.settings.folder)
            try await site.make(at: BackupSite.start)
            let problem = try #require(try await site.backups.overview().others.first?.problem)
            #expect(problem.contains("chmod 700"), "\(problem)")
            #expect(try site.files() == [])
        }
    }

    @Test("if the shell around pg_dump is killed, the backup ends as failed")
    func killedShell() async throws {
        try await BackupSite.with { site in
            let program = try site.program("kill -9 $PPID; echo PGDMP")
            defer { try? FileManager.default.removeItem(atPath: program) }
            var settings = site.settings
            settings.program = program
            let backups = Backups(settings, pool: site.fixture.adminServer.pool, logger: site.backups.logger)
            try await backups.ask(by: site.user, now: BackupSite.start)
            try await backups.step(now: BackupSite.start)
            #expect(try await backups.overview().others.count == 1)
            #expect(try site.files() == [])
        }
    }

    @Test("if the backup user can't read everything, the message names the missing right")
    func rights() async throws {
        try await BackupSite.with { site in
            var settings = site.settings
            let name = "blind_\(settings.database.database ?? "")"
            try await site.fixture.pool.execute("CREATE ROLE \(name) LOGIN")
            settings.database.user = name
            let backups = Backups(settings, pool: site.fixture.adminServer.pool, logger: site.backups.logger)
            for (index, (grant, expected)) in [
                ("SELECT 1", "pg_read_all_data"), ("GRANT pg_read_all_data TO \(name)", "BYPASSRLS"),
            ].enumerated() {
                try await site.fixture.pool.execute(grant)
                let time = BackupSite.start + Int64(index) * BackupSite.second
                try await backups.ask(by: site.user, now: time)
                try await backups.step(now: time)
                #expect(try await backups.overview().others.first?.problem?.contains(expected) == true)
            }
            #expect(try site.files() == [])
        }
    }

    @Test(
        "the hint depends on pg_dump's message",
        arguments: [
            ("pg_dump: error: aborting because of server version mismatch", "of the server's version"),
            ("pg_dump: error: could not write to output file: No space left on device", "The disk is full"),
            ("FATAL:  password authentication failed for user \"x\"", "the password in TOMBOLO_BACKUP_URL"),
            ("connection to server at \"x\" failed", "the address in TOMBOLO_BACKUP_URL"),
        ])
    func hints(messages: String, expected: String) {
        let text = BackupFailure(ofDump: messages, status: 1, program: "/usr/bin/pg_dump").description
        #expect(text.contains(expected) && text.contains("/usr/bin/pg_dump exited with status 1: \(messages)"))
        let long = BackupFailure(ofDump: String(repeating: "x\n", count: 5_000), status: 1, program: "p").description
        #expect(long.utf8.count < 1_000)
    }

    @Test("the program gets the password only in its environment, and none of the server's secrets")
    func secrets() async throws {
        try await BackupSite.with { site in
            let program = try site.program(#"printf '%s|%s|%s\n' "$PGPASSWORD" "$TOMBOLO_JWT_SECRET" "$*" >&2; exit 3"#)
            defer { try? FileManager.default.removeItem(atPath: program) }
            var database = site.settings.database
            database.keywords["password"] = "it's secret"
            database.keywords["user"] = #"o'brien\"#
            let dump = DumpProgram(
                path: program, database: database,
                environment: ["PATH": "/usr/bin:/bin", "TOMBOLO_JWT_SECRET": "never"])
            let file = try site.backups.folder.create(BackupName(at: BackupSite.start, isAutomatic: false))
            await #expect {
                try await dump.run(into: file)
            } throws: { error in
                let text = "\(error)"
                return text.contains("exited with status 3: it's secret||--no-password")
                    && text.contains(#"user='o\'brien\\'"#) && !text.contains("never")
                    && text.components(separatedBy: "secret").count == 2
            }
            file.discard()
        }
    }

    @Test("when the server shuts down, the program ends, and the next step marks the backup as interrupted")
    func shutdown() async throws {
        try await BackupSite.with { site in
            let program = try site.program("echo PGDMP; exec sleep 1000")
            defer { try? FileManager.default.removeItem(atPath: program) }
            var settings = site.settings
            settings.program = program
            let backups = Backups(settings, pool: site.fixture.adminServer.pool, logger: site.backups.logger)
            try await backups.ask(by: site.user, now: BackupSite.start)
            let work = Task { try await backups.step(now: BackupSite.start) }
            let partial = site.path(of: "tombolo-20260528T202640Z.dump.partial")
            while (try? Data(contentsOf: URL(filePath: partial)))?.isEmpty ?? true {
                try await Task.sleep(for: .milliseconds(5))
            }
            // Everybody sees it as in progress.
            #expect(try await site.backups.overview().others.map(\.finishedAt) == [nil])
            work.cancel()
            _ = await work.result
            #expect(try site.files() == [])
            try await site.backups.step(now: BackupSite.start + BackupSite.hour)
            let others = try await site.backups.overview().others
            #expect(others.map(\.problem) == [BackupFailure.interrupted.description])
        }
    }

    @Test("what a killed server left is removed and listed as interrupted, unless a process is still writing it")
    func partials() async throws {
        try await BackupSite.with { site in
            let names = [
                BackupName(at: BackupSite.start, isAutomatic: true),
                BackupName(at: BackupSite.start + BackupSite.second, isAutomatic: false),
            ]
            // One that the database doesn't know, as after a restore, and one that it lists as in progress.
            try await site.backups.history.begin(names[1], by: site.user, at: names[1].time)
            try Data("PGDMP".utf8).write(to: URL(filePath: site.path(of: "\(names[0].text).partial")))
            try Data("notes".utf8).write(to: URL(filePath: site.path(of: "notes.partial")))
            var writer: PartialBackup? = try site.backups.folder.create(names[1])
            try await site.backups.step(now: BackupSite.start + BackupSite.hour)
            #expect(try site.files() == ["notes.partial", "\(names[1].text).partial"])
            #expect(writer != nil)
            writer = nil
            // Child processes that other tests have just started inherit the file descriptor, and briefly keep the lock.
            var time = BackupSite.start + BackupSite.hour
            repeat {
                time += BackupSite.hour
                try await site.backups.step(now: time)
            } while try site.files().count > 1
            #expect(try site.files() == ["notes.partial"])
            let others = try await site.backups.overview().others
            #expect(Set(others.map(\.name)) == Set(names.map(\.text)))
            #expect(others.allSatisfy { $0.problem == BackupFailure.interrupted.description })
        }
    }
}
