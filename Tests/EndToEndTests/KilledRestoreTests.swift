import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite("An admin server that is killed while it restores a backup", .serialized, .timeLimit(.minutes(15)))
struct KilledRestoreTests {
    private let stage: KilledStage
    private let folder: URL
    private let variables: [String: String]
    /// A connection to a database that isn't replaced.
    private let cluster: PostgresConnection
    private let name: String
    /// While a role of this name exists, which every database of the cluster sees, no row is restored. That keeps the
    /// restore from finishing before it's killed.
    private let barrier: String

    init() async throws {
        let stage = try await KilledStage("killed-restore")
        let folder = FileManager.default.temporaryDirectory.appending(path: "killed-restore-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let name = stage.database.database ?? ""
        let keywords = stage.database.keywords
        let user = "host=\(keywords["host"] ?? "") port=\(keywords["port"] ?? "5432") user=\(stage.database.user ?? "")"
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let programs = try await TestCluster.shared().programs
        variables = [
            "TOMBOLO_BACKUPS": folder.path(), "TOMBOLO_BACKUP_EVERY": "0",
            "TOMBOLO_BACKUP_URL": "\(user) dbname=\(name)", "TOMBOLO_RESTORE_URL": "\(user) dbname=postgres",
            "PATH": "\(programs):\(path)",
        ]
        cluster = try await PostgresConnection.connect(stage.database.database("postgres"))
        let barrier = "\(name)_barrier"
        try await stage.owner.execute(
            """
            CREATE FUNCTION public.may_come_in() RETURNS boolean LANGUAGE plpgsql AS
            $$BEGIN
                WHILE EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '\(barrier)') LOOP
                    PERFORM pg_catalog.pg_sleep(0.01);
                END LOOP;
                RETURN true;
            END$$;
            CREATE TABLE note (text text CHECK (public.may_come_in()));
            INSERT INTO note SELECT 'early' FROM generate_series(1, 2000);
            CREATE INDEX ON note (text)
            """)
        (self.stage, self.folder, self.name, self.barrier) = (stage, folder, name, barrier)
    }

    private func databases() async throws -> Set<String> {
        Set(
            try await cluster.query(
                "SELECT datname::text FROM pg_database WHERE datname ~ '^\(name)(_|$)'"
            ).map { try $0[0].string })
    }

    /// On a new connection, because a restore ends existing ones.
    private func query(_ sql: String) async throws -> PostgresResult {
        let connection = try await PostgresConnection.connect(stage.database)
        do {
            let result = try await connection.query(sql)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }

    private func panel(_ server: Server) async throws -> PanelClient {
        try await PanelClient(await server.url, email: KilledStage.email, password: KilledStage.password)
    }

    private func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(600)
        while try await !condition() {
            guard ContinuousClock.now < deadline else {
                throw EndToEndFailure("Not within ten minutes: \(what). \(try await situation())")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Everything that the database and the cluster report about restores.
    private func situation() async throws -> String {
        let problems = try await query(
            "SELECT coalesce(problem, 'no problem') FROM tombolo.restore ORDER BY started_at")
        let activity = try await cluster.query(
            """
            SELECT concat_ws(' ', datname, application_name, state, wait_event_type, wait_event, left(query, 200))
            FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND (datname ^@ '\(name)' OR datname = 'postgres')
            """)
        return try (Array(problems) + Array(activity)).map { try $0[0].string }.joined(separator: "\n")
    }

    @Test("leaves the database as it was or restored, says which, and the next server restores it whole")
    func killed() async throws {
        let first = stage.server("first", variables)
        try await first.start()
        #expect(try await panel(first).press("/panel/backups", on: "/panel/backups") == 303)
        var backup = ""
        try await eventually("the backup") {
            backup =
                try FileManager.default.contentsOfDirectory(atPath: folder.path()).first { $0.hasSuffix(".dump") } ?? ""
            return !backup.isEmpty
        }
        try await stage.owner.execute("UPDATE note SET text = 'late'")
        await stage.owner.close()
        try await cluster.execute("CREATE ROLE \(barrier)")
        let page = "/panel/backups/\(backup)/restore"
        #expect(try await panel(first).press(page, on: page) == 303)
        try await eventually("a database that is filled") { try await databases().contains("\(name)_restoring") }
        try await first.kill9()
        try await cluster.execute("DROP ROLE \(barrier)")
        #expect(try await query("SELECT DISTINCT text FROM note").map { try $0[0].string } == ["late"])

        let second = stage.server("second", variables)
        try await second.start()
        try await eventually("the end of what was interrupted") {
            try await query("SELECT problem FROM tombolo.restore").first?[0].nonNull?.string
                .contains("The server stopped before the restore was done") ?? false
        }
        try await eventually("no database but the one in use") { try await databases() == [name] }
        let again = try await panel(second)
        #expect(try await again.get("/panel/backups").text.contains("The server stopped before the restore was done"))
        #expect(try await again.press(page, on: page) == 303)
        try await eventually("the other database's place") {
            try await databases().contains { $0.hasPrefix("\(name)_before_") }
        }
        // The server ends connections to both databases until it has recorded that it's done.
        try await eventually("the rows of the backup") {
            (try? await query("SELECT DISTINCT text FROM note").map { try $0[0].string }) == ["early"]
        }
        // The server goes on, with the logins that existed at the time of the backup.
        try await eventually("the panel, which tells of the other database") {
            guard let shown = try? await panel(second).get("/panel/backups") else { return false }
            return shown.status == 200 && shown.text.contains("_before_")
        }
        try await second.kill9()
        await cluster.close()
        try FileManager.default.removeItem(at: folder)
    }
}
