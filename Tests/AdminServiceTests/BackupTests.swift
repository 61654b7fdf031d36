import Foundation
import PostgresClient
import ServiceTestSupport
import TestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminService

@Suite("Manual and scheduled backups of the whole database")
struct BackupTests {
    /// The row count of each of the apps' and Tombolo's tables, except those that a backup itself writes.
    private static func counts(_ configuration: PostgresConfiguration) async throws -> [String: Int] {
        let connection = try await PostgresConnection.connect(configuration)
        let names = try await connection.query(
            """
            SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind = 'r' AND n.nspname IN ('public', 'tombolo') AND c.relname <> 'backup' ORDER BY 1
            """
        ).map { try $0[0].string }
        var counts: [String: Int] = [:]
        for name in names { counts[name] = try await connection.query("SELECT count(*)::int FROM \(name)")[0, 0].int }
        await connection.close()
        return counts
    }

    @Test("a dump made by a read-only user restores into another database with the same rows")
    func restores() async throws {
        try await BackupSite.with { site in
            var settings = site.settings
            let name = "backup_of_\(settings.database.database ?? "")"
            try await site.fixture.pool.execute(
                "CREATE ROLE \(name) LOGIN BYPASSRLS; GRANT pg_read_all_data TO \(name)")
            settings.database.user = name
            let backups = Backups(settings, pool: site.fixture.adminServer.pool, logger: site.backups.logger)
            try await backups.ask(by: site.user, now: BackupSite.start)
            try await backups.step(now: BackupSite.start)
            let overview = try await backups.overview()
            let item = try #require(overview.items.first, "\(overview.others)")
            #expect(item.name.text == "tombolo-20260528T202640Z.dump" && overview.others.isEmpty)
            #expect(item.run?.userName == "The superAdmin" && item.run?.serverVersion?.isEmpty == false)
            #expect(try site.files() == [item.name.text])
            let path = site.path(of: item.name.text)
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            #expect(facts[.posixPermissions] as? Int == 0o600 && facts[.size] as? Int64 == item.byteCount)
            let contents = try await site.cluster.contents(of: path)
            for part in ["TABLE DATA public session", "TABLE DATA tombolo account", "FUNCTION tombolo take_lock"] {
                #expect(contents.contains(part), "\(part)")
            }
            let restored = try await site.cluster.restoreAnew(path)
            let (before, after) = (
                try await Self.counts(site.fixture.pool.configuration), try await Self.counts(restored)
            )
            #expect(before == after && before["public.session"] == 4)

            // The restored database lists the backup it was restored from as in progress.
            let pool = PostgresPool(configuration: restored, options: .patient(2))
            let anew = Backups(settings, pool: pool, logger: site.backups.logger)
            #expect(try await anew.history.unfinished() == [item.name.text])
            try await anew.step(now: BackupSite.start + BackupSite.hour)
            let known = try await anew.overview()
            #expect(known.others.isEmpty && known.items.first?.run?.problem == nil)
            await pool.shutdown()
        }
    }

    @Test("automatic backups are made when due, and only the newest are kept")
    func automatic() async throws {
        try await BackupSite.with {
            $0.interval = .seconds(24 * 3_600)
            $0.keptCount = 2
        } _: { site in
            let day = 24 * BackupSite.hour
            try await site.backups.step(now: BackupSite.start)
            try await site.backups.step(now: BackupSite.start + 61 * BackupSite.second)
            try await site.backups.step(now: BackupSite.start + day - 61 * BackupSite.second)
            #expect(try site.files() == ["tombolo-20260528T202640Z-auto.dump"])
            try await site.make(at: BackupSite.start + BackupSite.hour)
            for index in 1...3 { try await site.backups.step(now: BackupSite.start + Int64(index) * day) }
            #expect(
                try site.files() == [
                    "tombolo-20260528T212640Z.dump", "tombolo-20260530T202640Z-auto.dump",
                    "tombolo-20260531T202640Z-auto.dump",
                ])
            for file in try site.files() { try FileManager.default.removeItem(atPath: site.path(of: file)) }
            try await site.backups.step(now: BackupSite.start + 3 * day + 2 * BackupSite.hour)
            let again = "tombolo-20260531T222640Z-auto.dump"
            #expect(try site.files() == [again], "An empty folder soon gets one.")
            let works = try await Schedule(site.fixture.adminServer.pool).works(
                makesBackups: true, now: BackupSite.start)
            let work = try #require(works.first { $0.kind == .backup })
            #expect(work.result?.hasPrefix("\(again), ") == true && work.problem == nil)
            #expect(work.nextAt.map { $0 > work.finishedAt ?? .max } == true)
        }
    }

    @Test("a failed automatic backup is retried after an hour, and the schedule says why it failed")
    func retry() async throws {
        try await BackupSite.with {
            $0.interval = .seconds(24 * 3_600)
            $0.program = "/bin/false"
        } _: { site in
            try await site.backups.step(now: BackupSite.start)
            try await site.backups.step(now: BackupSite.start + BackupSite.hour - BackupSite.second)
            #expect(try await site.backups.history.runs().count == 1)
            try await site.backups.step(now: BackupSite.start + BackupSite.hour + 61 * BackupSite.second)
            #expect(try await site.backups.history.runs().count == 2)
            let works = try await Schedule(site.fixture.adminServer.pool).works(
                makesBackups: true, now: BackupSite.start)
            #expect(works.first { $0.kind == .backup }?.problem == "/bin/false exited with status 1.")
        }
    }

    @Test("only one of several servers makes a backup at a time")
    func oneAtATime() async throws {
        try await BackupSite.with {
            $0.interval = .seconds(24 * 3_600)
        } _: { site in
            let holder = try await PostgresConnection.connect(site.fixture.adminServer.pool.configuration)
            try await holder.execute("BEGIN; SELECT tombolo.take_backup_lock()")
            try await site.backups.step(now: BackupSite.start)
            #expect(try await site.backups.history.runs().isEmpty)
            try await site.make(at: BackupSite.start)
            let run = try #require(try await site.backups.overview().others.first)
            #expect(run.problem == BackupFailure.busy.description && run.userName == "The superAdmin")
            try await holder.execute("ROLLBACK")
            await holder.close()
            try await site.backups.step(now: BackupSite.start + 61 * BackupSite.second)
            #expect(try site.files() == ["tombolo-20260528T202741Z-auto.dump"])
        }
    }

    @Test("a second backup requested while one is waiting is refused with the reason")
    func secondWish() async throws {
        try await BackupSite.with { site in
            try await site.backups.ask(by: site.user, now: BackupSite.start)
            #expect(try await site.backups.overview().isWaiting)
            await #expect {
                try await site.backups.ask(by: site.user, now: BackupSite.start + BackupSite.second)
            } throws: { ($0 as? RequestFailure)?.code == .conflict }
            try await site.backups.step(now: BackupSite.start)
            #expect(try await !site.backups.overview().isWaiting)
            try await site.make(at: BackupSite.start + BackupSite.second)
            #expect(try site.files().count == 2)
        }
    }

    @Test(
        "two downloads at a time run to completion, even of a backup deleted meanwhile; a third is refused"
    )
    func downloads() async throws {
        try await BackupSite.with { site in
            try await site.make(at: BackupSite.start)
            let name = try #require(try await site.backups.overview().items.first?.name)
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: site.path(of: name.text))))
            do {
                let readers = [
                    try await site.backups.download(name, by: site.user),
                    try await site.backups.download(name, by: site.user),
                ]
                await #expect {
                    _ = try await site.backups.download(name, by: site.user)
                } throws: { ($0 as? RequestFailure)?.code == .unavailable }
                try await site.backups.delete(name, by: site.user)
                for reader in readers {
                    var read: [UInt8] = []
                    while true {
                        let part = try await reader.part(at: Int64(read.count))
                        if part.isEmpty { break }
                        #expect(part.count <= BackupReader.partByteCount)
                        read += part
                    }
                    #expect(read == bytes)
                }
            }
            // The download slots are free again, and the backup is gone.
            await #expect {
                _ = try await site.backups.download(name, by: site.user)
            } throws: { ($0 as? RequestFailure)?.code == .notFound }
        }
    }
}
