import AsyncHTTPClient
import ChildPrograms
import Foundation
import NIOHTTP1
import PostgresClient
import RandomValues
import Synchronization
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore
import TomboloServerModel

@Suite(
    "Admin servers that are killed while they change roles, boxes and put back", .serialized, .timeLimit(.minutes(15)))
struct KilledRoleChangeTests {
    private static let holderCount = 40
    private static let names = ["herald", "crier"]

    /// The server's answers while it lived.
    private struct Heard {
        var answers = 0
        var unexpected: [Int] = []
    }

    private final class Tally: Sendable {
        let heard = Mutex(Heard())
    }

    private static func prepare(_ platform: Platform) async throws -> ObjectId {
        let session = ObjectId.generate()
        try await platform.sql(
            #"INSERT INTO role_assignment (_id, "user", role) VALUES ($1, $2, 'superAdmin')"#,
            [.bytea(ObjectId.generate().bytes), .bytea(try platform.id(of: "attendee").bytes)])
        try await platform.sql(
            "INSERT INTO session (_id, event, title, subtitle) VALUES ($1, $2, 'a', 'a')",
            [.bytea(session.bytes), .bytea(platform.event.bytes)])
        // Slows down each row of a rename and of putting back.
        try await platform.pool.withConnection { connection in
            try await connection.execute(
                """
                CREATE FUNCTION public.slowly() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN PERFORM pg_sleep(0.003); RETURN NEW; END$$;
                CREATE TRIGGER slowly BEFORE UPDATE ON role_assignment FOR EACH ROW EXECUTE FUNCTION public.slowly();
                CREATE TRIGGER slowly BEFORE UPDATE ON session FOR EACH ROW EXECUTE FUNCTION public.slowly()
                """)
        }
        return session
    }

    private static func give(_ platform: Platform) async throws {
        for _ in 0..<holderCount {
            let event = ObjectId.generate()
            try await platform.sql(
                """
                INSERT INTO event (_id, name, identifier, state, privacy, starts_at, ends_at)
                VALUES ($1, 'x', 'x', 'draft', 'public', now(), now())
                """, [.bytea(event.bytes)])
            try await platform.sql(
                #"INSERT INTO role_assignment (_id, "user", role, event) VALUES ($1, $2, 'herald', $3)"#,
                [
                    .bytea(ObjectId.generate().bytes), .bytea(try platform.id(of: "stranger").bytes),
                    .bytea(event.bytes),
                ])
        }
    }

    /// Sends requests until the server is gone.
    private static func work(_ call: AdminClient, _ session: ObjectId, from start: Int, _ tally: Tally) async {
        func send(_ method: HTTPMethod, _ path: String, _ body: String, _ expected: Set<Int>) async throws {
            let answer = try await call(method, path, body, ifMatch: "*")
            tally.heard.withLock {
                $0.answers += 1
                if !expected.contains(answer.status) { $0.unexpected.append(answer.status) }
            }
        }
        var round = start
        while !Task.isCancelled {
            round += 1
            do {
                switch round % 3 {
                case 0:
                    for (old, new) in [(names[0], names[1]), (names[1], names[0])] {
                        // Only one of the two names exists at a time.
                        try await send(.PATCH, "/admin/permissions/roles/\(old)", #"{"name": "\#(new)"}"#, [200, 422])
                    }
                case 1:
                    let text = "\(round) \(ObjectId.generate())"
                    try await send(
                        .POST, "/admin/audit/sessions/\(session)/put-back",
                        #"{"values": {"title": "\#(text)", "subtitle": "\#(text)"}}"#, [200])
                default:
                    let box =
                        #"{"role": "moderator", "service": "tracks", "operation": "update", "allowed": \#(round % 2 == 0)}"#
                    try await send(.PATCH, "/admin/permissions", box, [200])
                }
            } catch {
                return
            }
        }
    }

    @Test(
        "leave the rules with their grants, and the values, as before or as after; others go on; the audit log agrees")
    func killed() async throws {
        var generator = SeededGenerator.printed(for: "killed role changes")
        let pauses = (0..<8).map { _ in Int.random(in: 50..<1_500, using: &generator) }
        try await Platform.with { platform in
            let session = try await Self.prepare(platform)
            let server = try await AdminProcess.server(platform)
            try await server.start()
            try await platform.eventually("the audit log has begun") {
                try await platform.count("SELECT count(*) FROM tombolo.audit_position WHERE tick IS NOT NULL") == 1
            }
            let token = try platform.token(of: "attendee")
            let first = AdminClient(url: await server.url, token: token)
            let added = try await first(
                .POST, "/admin/permissions/roles", #"{"name": "herald"}"#, ifMatch: "*")
            try #require(added.status == 201)
            try await Self.give(platform)
            let tally = Tally()
            for (number, pause) in pauses.enumerated() {
                let call = AdminClient(url: await server.url, token: token, repeatsWhenBusy: true)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    let before = tally.heard.withLock { $0.answers }
                    group.addTask { await Self.work(call, session, from: number, tally) }
                    // Every other round, wait until something has been done.
                    while number % 2 == 1, tally.heard.withLock({ $0.answers }) < before + 2 {
                        try await Task.sleep(for: .milliseconds(10))
                    }
                    try await Task.sleep(for: .milliseconds(pause))
                    try await server.kill9()
                    group.cancelAll()
                    try await group.waitForAll()
                }
                // Once the server's connections are gone, its statements have ended, committed or not.
                try await platform.eventually("the server's connections are gone") {
                    try await platform.count(
                        """
                        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                            AND usename LIKE '%admin%'
                        """) == 0
                }
                let models = try await ServerModels.load(platform.pool)
                let custom = models.current.customRoles(of: "conference")
                #expect(custom.count == 1 && Self.names.contains(custom.first ?? ""))
                let holders = try await platform.count(
                    "SELECT count(*) FROM role_assignment WHERE role = '\(custom.first ?? "")'")
                #expect(holders == Int64(Self.holderCount), "the grants don't have the role's name")
                let isWhole = try await platform.sql(
                    "SELECT title = subtitle FROM session WHERE _id = $1", [.bytea(session.bytes)])[0, 0].bool
                #expect(isWhole, "only part of the values was put back")
                try await server.start()
            }
            #expect(tally.heard.withLock { $0.unexpected } == [])
            #expect(tally.heard.withLock { $0.answers } > 4)
            try await server.kill9()
            // Every version of the rules is in the log exactly once, with its author.
            let versions = try await platform.count("SELECT count(*) FROM tombolo.document WHERE account IS NOT NULL")
            try await platform.eventually("every version is in the audit log") {
                try await AuditFollower(pool: platform.pool).catchUp()
                return try await platform.count(
                    """
                    SELECT count(DISTINCT key) FROM tombolo.audit_entry
                    WHERE class = \(SchemaIdentifiers.documentClass) AND operation <> 'b'
                    """) >= versions
            }
            try await platform.checkAudit()
            let logged = try await platform.sql(
                """
                SELECT count(*), count(DISTINCT key), count(*) FILTER (WHERE user_id IS NULL),
                    (SELECT count(*) FROM tombolo.document WHERE account IS NOT NULL)
                FROM tombolo.audit_entry WHERE class = \(SchemaIdentifiers.documentClass) AND operation <> 'b'
                """)[0]
            #expect(try logged[0].int64 == logged[1].int64 && logged[0].int64 == logged[3].int64)
            #expect(try logged[2].int64 == 0)
        }
    }
}
