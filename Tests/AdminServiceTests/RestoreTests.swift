import Foundation
import Logging
import PostgresClient
import ServiceTestSupport
import TestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloModel
import TomboloServerModel

@testable import AdminService

@Suite("Restoring backups while servers run", .timeLimit(.minutes(15)))
struct RestoreTests {
    private static let (start, hour) = (BackupSite.start, BackupSite.hour)

    /// Retries while pools find their connections closed.
    private static func patiently<R>(_ body: () async throws -> R) async throws -> R {
        for _ in 0..<20 {
            if let result = try? await body() { return result }
        }
        return try await body()
    }

    private static func query(_ site: BackupSite, _ sql: String) async throws -> PostgresResult {
        try await patiently { try await site.fixture.pool.query(sql) }
    }

    private static func titles(_ site: BackupSite) async throws -> Set<String> {
        Set(try await query(site, "SELECT title FROM session").map { try $0[0].string })
    }

    private static func databases(_ site: BackupSite) async throws -> [String] {
        let current = site.settings.database.database ?? ""
        return try await query(
            site, "SELECT datname::text FROM pg_database WHERE datname ~ '^\(current)(_|$)' ORDER BY 1"
        ).map { try $0[0].string }
    }

    /// Requests a restore and runs it.
    private static func restore(
        _ source: RestoreSource, _ backups: Backups, _ site: BackupSite, at time: Int64
    ) async throws -> RestoreRun {
        try await backups.ask(toRestore: source, by: site.user)
        try await backups.step(now: time)
        return try #require(try await patiently { try await backups.restoreOverview() }?.runs.first)
    }

    private static func backup(_ site: BackupSite) async throws -> RestoreSource {
        try await site.make(at: start)
        return .backup(try #require(try await site.backups.overview().items.first?.name))
    }

    @Test("a backup replaces the database, and the replaced one can be brought back or deleted")
    func restores() async throws {
        try await BackupSite.with { site in
            let name = try #require(site.settings.database.database)
            let backups = site.restoring()
            let before = try await Self.titles(site)
            let source = try await Self.backup(site)
            try await site.fixture.pool.execute("UPDATE session SET title = title || ' (later)'")
            let later = try await Self.titles(site)
            let models = site.fixture.adminModels
            let version = models.current.version
            try await site.fixture.pool.execute(
                """
                INSERT INTO tombolo.document (app, kind, content, checksum)
                SELECT app, kind, content || chr(10), encode(sha256(convert_to(content || chr(10), 'UTF8')), 'hex')
                FROM tombolo.document WHERE kind = 'rules' ORDER BY version DESC LIMIT 1
                """)
            #expect(try await models.refresh().version == version + 1)

            let run = try await Self.restore(source, backups, site, at: Self.start + Self.hour)
            #expect(run.problem == nil && run.userName == "The superAdmin" && run.source == source.text)
            // Named after the time it was put aside, slightly later than the start.
            let kept = try #require(run.kept)
            #expect(kept.hasPrefix("\(name)_before_20260528T21"))
            #expect(try await Self.titles(site) == before)
            // The server's connections were terminated.
            #expect(try await Self.patiently { try await models.refresh().version } == version)
            #expect(try await Self.databases(site) == [name, kept])
            let acts = "SELECT act || ' ' || source FROM tombolo.panel_restore ORDER BY at"
            #expect(try await Self.query(site, acts).map { try $0[0].string } == ["restored \(source.text)"])

            let found = try await backups.findKept(kept)
            #expect(found.byteCount ?? 0 > 0 && found.time >= Self.start + Self.hour)
            let back = try await Self.restore(.kept(kept), backups, site, at: Self.start + 2 * Self.hour)
            #expect(back.problem == nil && back.kept?.hasPrefix("\(name)_before_20260528T22") == true)
            #expect(try await Self.titles(site) == later)
            #expect(
                try await Self.query(site, acts).map { try $0[0].string } == [
                    "requested \(source.text)", "restored \(kept)",
                ])
            // The database that was brought back records how it was put aside.
            let known = try #require(try await backups.restoreOverview()?.runs)
            #expect(known.map(\.source) == [kept, source.text] && known.allSatisfy { $0.problem == nil })

            let last = try await backups.findKept(try #require(back.kept))
            try await backups.delete(last, by: site.user)
            #expect(try await Self.databases(site) == [name])
            await #expect(throws: RequestFailure.self) { try await backups.findKept(last.name) }
            await #expect(throws: RequestFailure.self) { try await backups.findKept("postgres") }
        }
    }

    @Test("what a backup lacks is copied from the replaced database: owner, rights, settings, comment")
    func shape() async throws {
        try await BackupSite.with { site in
            let name = try #require(site.settings.database.database)
            let role = "keeper_of_\(name)"
            try await site.fixture.pool.execute(
                """
                CREATE ROLE \(role);
                REVOKE CONNECT ON DATABASE \(name) FROM PUBLIC;
                GRANT CONNECT ON DATABASE \(name) TO tombolo_admin, tombolo_tickets;
                GRANT CREATE ON DATABASE \(name) TO \(role) WITH GRANT OPTION;
                ALTER DATABASE \(name) SET search_path TO "$user", public, "it's, one";
                ALTER DATABASE \(name) SET app.greeting TO 'it''s "me"';
                ALTER ROLE \(role) IN DATABASE \(name) SET work_mem TO '5MB';
                ALTER ROLE \(role) IN DATABASE \(name) SET default_transaction_read_only TO on;
                COMMENT ON DATABASE \(name) IS 'it''s ours'
                """)
            let facts = """
                SELECT jsonb_build_object('acl', datacl::text, 'dba', datdba, 'encoding', encoding, 'collate', datcollate,
                    'comment', shobj_description(oid, 'pg_database'), 'settings', (
                        SELECT jsonb_agg(jsonb_build_array(setrole, setconfig) ORDER BY setrole)
                        FROM pg_db_role_setting WHERE setdatabase = oid))::text
                FROM pg_database WHERE datname = '\(name)'
                """
            let before = try await Self.query(site, facts)[0, 0].string
            #expect(before.contains("search_path") && before.contains("work_mem") && before.contains("ours"))
            let source = try await Self.backup(site)
            let run = try await Self.restore(source, site.restoring(), site, at: Self.start + Self.hour)
            #expect(run.problem == nil)
            #expect(try await Self.query(site, facts)[0, 0].string == before)
        }
    }

    @Test("copying a database's settings leaves out those of the connection")
    func connectionSettings() async throws {
        try await BackupSite.with { site in
            let name = try #require(site.settings.database.database)
            try await site.fixture.pool.execute(
                """
                ALTER DATABASE \(name) SET search_path TO public;
                ALTER DATABASE \(name) SET statement_timeout TO '1h'
                """)
            let connection = try await PostgresConnection.connect(site.settings.database)
            try await RestoreConnection.prepare(connection)
            try await DatabaseShape(of: name, connection).create("\(name)_next", connection)
            #expect(try await connection.query("SHOW search_path")[0, 0].string == "pg_catalog")
            #expect(try await connection.query("SHOW statement_timeout")[0, 0].string == "0")
            try await connection.execute("DROP DATABASE \(name)_next")
            await connection.close()
        }
    }

    @Test("a user with only the rights in docs/backups.md can restore, and is told which right is missing")
    func rights() async throws {
        // Roles belong to the whole cluster, and the tables must belong to a user who isn't a superuser.
        let cluster = try await TestCluster.start()
        let superuser = try await PostgresConnection.connect(cluster.configuration)
        try await superuser.execute("CREATE ROLE keeper LOGIN CREATEROLE; CREATE ROLE restorer LOGIN")
        try await superuser.execute("CREATE DATABASE held OWNER keeper")
        await superuser.close()
        let database = cluster.configuration.database("held")
        let pool = PostgresPool(configuration: database, options: .patient(3))
        try await pool.withConnection { connection in
            try await connection.execute("SET SESSION AUTHORIZATION keeper")
            try await Migrator.toDocuments([], on: connection).apply()
            try await connection.execute("CREATE TABLE thing (name text); INSERT INTO thing VALUES ('early')")
            try await connection.execute("RESET SESSION AUTHORIZATION; RESET ROLE")
        }
        try await withTemporaryFolder { folder in
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path())
            let path = folder.path()
            var user = cluster.configuration.database("postgres")
            user.user = "restorer"
            let backups = Backups(
                BackupSettings(
                    folder: path.hasSuffix("/") ? String(path.dropLast()) : path, database: database, interval: nil,
                    program: cluster.dumpProgram),
                restoring: RestoreSettings(database: user, program: cluster.restoreProgram) { connection in
                    try await Migrator.toDocuments([], on: connection).apply()
                }, pool: pool, logger: Logger(label: "backups"))
            let problem = try #require(try await backups.restoreProblem())
            for command in [
                "ALTER ROLE \"restorer\" CREATEDB", "GRANT pg_signal_backend TO \"restorer\"",
                "GRANT \"keeper\" TO \"restorer\"",
            ] { #expect(problem.contains(command), "\(problem)") }
            try await pool.execute(
                "ALTER ROLE restorer CREATEDB; GRANT pg_signal_backend TO restorer; GRANT keeper TO restorer")
            #expect(try await backups.restoreProblem() == nil)

            let account = ObjectId()
            try await pool.query(
                "INSERT INTO tombolo.account (id, email) VALUES ($1, 'ada@example.org')", [.bytea(account.bytes)])
            try await backups.ask(by: account, now: Self.start)
            try await backups.step(now: Self.start)
            let name = try #require(try await backups.overview().items.first?.name)
            try await pool.execute("UPDATE thing SET name = 'late'")
            // A user without special rights is connected, and so is a second pool of the server.
            var other = database
            other.user = "keeper"
            let idle = try await PostgresConnection.connect(other)
            // No superuser may be connected, and this test's pools connect as one.
            await pool.shutdown()
            var server = database
            server.user = "keeper"
            let own = PostgresPool(configuration: server, options: .patient(3))
            let again = Backups(
                backups.settings,
                restoring: RestoreSettings(database: user, program: cluster.restoreProgram) { connection in
                    try await Migrator.toDocuments([], on: connection).apply()
                }, pool: own, logger: Logger(label: "backups"))
            try await again.ask(toRestore: .backup(name), by: account)
            try await withPatience { try await again.step(now: Self.start + Self.hour) }
            await idle.close()
            let fresh = PostgresPool(configuration: server, options: .patient(1))
            let row = try await fresh.query(
                """
                SELECT (SELECT name FROM thing), (SELECT problem FROM tombolo.restore), (SELECT tableowner::text
                    FROM pg_tables WHERE tablename = 'thing')
                """)[0]
            #expect(try row[0].string == "early" && row[2].string == "keeper")
            let failure = try row[1].nonNull?.string
            #expect(failure == nil, "\(failure ?? "")")
            await fresh.shutdown()
            await own.shutdown()
        }
        await cluster.remove()
    }

    @Test("a failed restore leaves the database unchanged, and says why it failed")
    func failures() async throws {
        try await BackupSite.with { site in
            let name = try #require(site.settings.database.database)
            let source = try await Self.backup(site)
            let titles = try await Self.titles(site)

            let failing = try site.program(
                "echo 'pg_restore: error: could not read from input file: end of file' >&2; exit 1")
            let broken = try await Self.restore(source, site.restoring(program: failing), site, at: Self.start)
            #expect(broken.problem?.hasPrefix("The file is incomplete, or isn't a pg_dump backup.") == true)

            try Data("PGDMP nonsense".utf8).write(to: URL(filePath: site.path(of: source.text)))
            let nonsense = try await Self.restore(source, site.restoring(), site, at: Self.start + 1)
            #expect(nonsense.problem?.contains("pg_restore") == true && nonsense.kept == nil)

            let itself = site.restoring(as: site.fixture.pool.configuration)
            #expect(try await itself.restoreProblem()?.contains("points to the database itself") == true)
            var nobody = site.fixture.pool.configuration.database("postgres")
            nobody.user = "nobody_of_\(name)"
            let unreachable = try await site.restoring(as: nobody).restoreOverview()
            #expect(unreachable?.problem?.contains("can't connect") == true)

            #expect(try await Self.databases(site) == [name])
            #expect(try await Self.titles(site) == titles)
            #expect(try await site.restoring().restoreOverview()?.runs.count == 2)
        }
    }

    @Test("a backup and a restore never run at the same time")
    func oneAtATime() async throws {
        try await BackupSite.with { site in
            let source = try await Self.backup(site)
            let backups = site.restoring()
            try await backups.ask(by: site.user, now: Self.start + Self.hour)
            await #expect(throws: RequestFailure.self) { try await backups.ask(toRestore: source, by: site.user) }
            try await backups.step(now: Self.start + Self.hour)
            try await backups.ask(toRestore: source, by: site.user)
            await #expect(throws: RequestFailure.self) {
                try await backups.ask(by: site.user, now: Self.start + 2 * Self.hour)
            }
            #expect(try await backups.restoreOverview()?.current?.source == source.text)
        }
    }

    @Test("the lock of a restore is free as soon as it ends, even before the connection is closed")
    func lock() async throws {
        let configuration = try await TestCluster.shared().configuration
        let one = try await PostgresConnection.connect(configuration)
        let two = try await PostgresConnection.connect(configuration)
        let name = UUID().uuidString
        #expect(try await RestoreConnection.lock(name, one))
        #expect(try await !RestoreConnection.lock(name, two))
        await RestoreConnection.unlock(name, one)
        #expect(try await RestoreConnection.lock(name, two))
        await one.close()
        await two.close()
    }

    @Test("a restore interrupted by its server's end is ended by the next one, and its databases are removed")
    func interrupted() async throws {
        try await BackupSite.with { site in
            let name = try #require(site.settings.database.database)
            let backups = site.restoring()
            _ = try await backups.restores.begin("tombolo-20260528T202640Z.dump", by: site.user, at: Self.start)
            try await site.fixture.pool.execute("CREATE DATABASE \(name)_restoring")
            try await backups.step(now: Self.start + Self.hour)
            let run = try #require(try await backups.restoreOverview()?.runs.first)
            #expect(run.problem == BackupFailure.restoreInterrupted.description)
            #expect(try await Self.databases(site) == [name])
        }
    }

    @Test("backups continue even while the remains of an interrupted restore can't be removed")
    func unreachable() async throws {
        try await BackupSite.with { site in
            let backups = site.restoring(as: site.settings.database.database("nowhere"))
            _ = try await backups.restores.begin("tombolo-20260528T202640Z.dump", by: site.user, at: Self.start)
            try await backups.ask(by: site.user, now: Self.start + Self.hour)
            try await backups.step(now: Self.start + Self.hour)
            let overview = try await backups.overview()
            #expect(overview.items.count == 1 && overview.others.isEmpty, "\(overview.others)")
            #expect(try await backups.restores.hasUnfinished())
        }
    }

    @Test("databases put aside have the time in their names, and no other name is mistaken for one")
    func names() {
        let names = DatabaseNames(current: "app")
        let kept = names.kept(at: Self.start)
        #expect(kept == "app_before_20260528T202640Z" && names.time(ofKept: kept) == Self.start)
        for other in ["app", "app_before_", "app_before_yesterday", "app_before_20260528T202640", "ap_before_\(kept)"] {
            #expect(names.time(ofKept: other) == nil, "\(other)")
        }
        #expect(names.problem == nil)
        #expect(DatabaseNames(current: String(repeating: "a", count: 40)).problem?.contains("too long") == true)
    }
}
