import ChildPrograms
import ConferenceSetup
import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloMigration

@Suite("An admin server that is killed while it purges the trash", .serialized, .timeLimit(.minutes(5)))
struct KilledPurgeTests {
    private static let groups = 600

    @Test("leaves whole groups, the next one goes on, and nothing is deleted or counted twice")
    func killed() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let owner = try await PostgresConnection.connect(configuration)
        try await Conference.migrator(owner).apply()
        // Each track is a group with two sessions, which take a moment to go.
        try await owner.execute(
            """
            UPDATE tombolo.class_column SET goes_along = true WHERE name = 'track';
            INSERT INTO track (_id, name) SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), n FROM generate_series(1, \(Self.groups)) n;
            INSERT INTO session (_id, title, track) SELECT decode(lpad(to_hex(n + 16777216), 24, '0'), 'hex'), n,
                decode(lpad(to_hex(n / 2 + 1), 24, '0'), 'hex') FROM generate_series(0, \(2 * Self.groups - 1)) n;
            UPDATE track SET trashed_at = now() - interval '31 days';
            CREATE FUNCTION public.slowly() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN PERFORM pg_sleep(0.002); RETURN OLD; END$$;
            CREATE TRIGGER slowly BEFORE DELETE ON session FOR EACH ROW EXECUTE FUNCTION public.slowly()
            """)
        let user = try await TestCluster.member(of: "tombolo_admin", configuration)
        let keywords = configuration.keywords
        let folder = FileManager.default.temporaryDirectory.appending(path: "killed-purge-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let environment = [
            "TOMBOLO_DATABASE_URL":
                "host=\(keywords["host"] ?? "") port=\(keywords["port"] ?? "5432") user=\(user.user ?? "") "
                + "dbname=\(configuration.database ?? "")",
            "TOMBOLO_JWT_SECRET": "the end-to-end tests sign with this key", "TOMBOLO_LOG_LEVEL": "warning",
        ]
        func counts() async throws -> (tracks: Int, sessions: Int, counted: Int) {
            let row = try await owner.query(
                """
                SELECT (SELECT count(*) FROM track)::int, (SELECT count(*) FROM session)::int,
                    (SELECT coalesce(sum(objects), 0) FROM tombolo.trash_run)::int
                """)[0]
            return (try row[0].int, try row[1].int, try row[2].int)
        }
        var left = Self.groups
        var kills = 0
        while left > 0 {
            let server = try await ChildProcess(
                try Programs.admin, ["--port", "0"], environment: environment,
                messages: folder.appending(path: "messages-\(kills)"))
            // A third of what is left; the last time all.
            let goal = left > 60 ? left * 2 / 3 : 0
            while left > goal {
                left = try await counts().tracks
                await Task.yield()
            }
            try await server.signal(kills == 0 || left > 0 ? SIGKILL : SIGTERM)
            kills += 1
            // What the server was at ends with its connection, committed or not.
            while try await !owner.query(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
                    + "AND backend_type = 'client backend'"
            ).isEmpty { await Task.yield() }
            let now = try await counts()
            left = now.tracks
            #expect(now.sessions == 2 * now.tracks, "half a group")
            #expect(now.counted == 3 * (Self.groups - now.tracks), "counted otherwise than deleted")
        }
        #expect(kills > 2)
        let erased = try await owner.query(
            """
            SELECT count(*)::int, count(DISTINCT (l.class, l.key))::int FROM tombolo.changelog l WHERE l.operation = 'e'
            """)
        #expect(try erased[0][0].int == 3 * Self.groups && erased[0][1].int == 3 * Self.groups)
        let unfinished = try await owner.query("SELECT 1 FROM tombolo.trash_run WHERE problem LIKE '%ended before%'")
        #expect(!unfinished.isEmpty)
        await owner.close()
        try? FileManager.default.removeItem(at: folder)
    }
}
