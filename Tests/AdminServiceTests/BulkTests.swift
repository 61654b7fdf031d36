@testable import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
@testable import TomboloJSONAPI
import TomboloModel
import TomboloRules

@Suite("Bulk actions can be previewed, respect their user's rights, and can be undone")
struct BulkTests {
    struct Site: Sendable {
        let fixture: ServiceFixture
        let call: Caller
        let runner: JobRunner

        /// Runs all jobs to completion.
        func work() async throws { while try await runner.step() {} }

        func count(_ sql: String) async throws -> Int { try await fixture.pool.query("SELECT (\(sql))::int")[0, 0].int }

        /// Adds tickets named `n1`, `n2`, … to the published event.
        func addTickets(_ count: Int, event: ObjectId? = nil, prefix: String = "n") async throws {
            try await fixture.pool.query(
                """
                INSERT INTO ticket (_id, name, event, rank, kind, currency, price, is_public)
                SELECT substr(sha256(($1 || n)::bytea), 1, 12), $1 || n, $2, $1 || n, 'free', 'EUR', 100, true
                FROM generate_series(1, \(count)) n
                """,
                [.text(prefix), .objectId(event ?? fixture.event)])
        }

        func job(_ answer: Answer, as role: String) async throws -> Answer {
            try await call(.get, "/jobs/\(answer.json["id"]?.number ?? 0)", as: role)
        }
    }

    static func run(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        try await ServiceFixture.with { fixture in
            let rules = LiveRules(fixture.rules)
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: rules,
                authenticator: fixture.adminServer.authenticator)
            let service = JobService(
                rules: rules, pool: fixture.adminServer.pool, authenticator: fixture.adminServer.authenticator,
                logger: Logger(label: "jobs"))
            var runner = service.runner
            runner.duration = .seconds(3_600)
            let patient = runner
            try await app.test(.router) {
                try await body(Site(fixture: fixture, call: Caller($0, fixture), runner: patient))
            }
        }
    }

    /// The tickets that ``Site/addTickets(_:event:prefix:)`` added.
    static let all = "/bulk/tickets?filter[name][startsWith]=n"

    /// A request body that sets their price.
    static func price(_ price: Int, _ more: String) -> String {
        #"{"action": "update", "all": true, "data": {"attributes": {"price": \#(price)}}, \#(more)}"#
    }

    @Test("all matches are changed in batches, and an undo skips what somebody has changed since")
    func updating() async throws {
        try await Self.run { site in
            try await site.addTickets(250)
            let trial = try await site.call(.post, Self.all, as: "owner", body: Self.price(7, #""dryRun": true"#))
            #expect(trial.status == 200 && trial.json["count"] == 250, "\(trial.text)")
            // As many as time allows.
            #expect((trial.json["checked"]?.number ?? 0) > 0 && trial.json["refused"] == 0)
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 7") == 0)
            #expect(try await site.count("SELECT count(*) FROM tombolo.job") == 0)
            let version = try #require(trial.json["version"]?.text)
            let asked = try await site.call(
                .post, Self.all, as: "owner",
                body: Self.price(7, #""expect": {"count": 250, "version": "\#(version)"}"#))
            #expect(asked.status == 202 && asked.json["state"] == "queued", "\(asked.text)")
            #expect(asked.headers[.location] == "/jobs/\(asked.json["id"]?.number ?? 0)")

            #expect(try await site.runner.step())
            let half = try await site.job(asked, as: "owner")
            #expect(half.json["state"] == "running" && half.json["done"] == 100 && half.json["pending"] == 150)
            try await site.work()
            let over = try await site.job(asked, as: "owner")
            #expect(over.json["state"] == "done" && over.json["done"] == 250, "\(over.text)")
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 7") == 250)

            try await site.fixture.pool.execute("UPDATE ticket SET price = 8 WHERE name IN ('n1', 'n2')")
            let path = "/jobs/\(asked.json["id"]?.number ?? 0)"
            let undo = try await site.call(.post, "\(path)/undo", as: "owner")
            #expect(undo.status == 202 && undo.json["undoes"] == asked.json["id"], "\(undo.text)")
            #expect(try await site.call(.post, "\(path)/undo", as: "owner").status == 409)
            try await site.work()
            let undone = try await site.job(undo, as: "owner")
            #expect(undone.json["done"] == 248 && undone.json["leftAlone"] == 2, "\(undone.text)")
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 100") == 248)
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 8") == 2)
            let left = try await site.call(
                .get, "/jobs/\(undo.json["id"]?.number ?? 0)/rows?outcome=leftAlone", as: "owner")
            #expect(
                left.json["rows"]?.list.map { $0["reason"] }
                    == Array(
                        repeating: "Somebody has since changed price.", count: 2))
        }
    }

    @Test("a dry run tells users who may list the trash what the app would keep there, and why")
    func keeping() async throws {
        try await Self.run { site in
            try await site.fixture.pool.execute(
                """
                CREATE FUNCTION tombolo.keep_session_in_trash(p_key text, p_now timestamptz) RETURNS text LANGUAGE sql
                AS $$SELECT 'it is popular'$$
                """)
            let body = #"{"action": "trash", "all": true, "dryRun": true}"#
            let told = try await site.call(.post, "/bulk/sessions", as: "superAdmin", body: body)
            #expect(told.status == 200, "\(told.text)")
            #expect(told.json["kept"] == 4 && told.json["count"] == 4 && told.json["refused"] == 0, "\(told.text)")
            #expect(told.json["keptBecause"]?.list.map { $0["reason"] } == Array(repeating: "it is popular", count: 4))
            let ids = told.json["keptBecause"]?.list.compactMap { $0["id"]?.text } ?? []
            #expect(ids.contains(site.fixture.sessions[0].stringValue))
            // The owner may move them there, but doesn't see what is in the trash.
            let untold = try await site.call(.post, "/bulk/sessions", as: "owner", body: body)
            #expect(untold.json["count"] == 3 && untold.json["refused"] == 0, "\(untold.text)")
            #expect(untold.json["kept"] == 0 && untold.json["keptBecause"] == .array([]))
            // The reason names an object that goes along.
            let event = #"{"action": "trash", "ids": ["\#(site.fixture.event)"], "dryRun": true}"#
            let along = try await site.call(.post, "/bulk/events", as: "superAdmin", body: event)
            let reason = along.json["keptBecause"]?.list.first?["reason"]?.text ?? ""
            #expect(along.json["kept"] == 1 && reason.hasPrefix("Session ") && reason.hasSuffix(": it is popular"))
            #expect(try await site.count("SELECT count(*) FROM session WHERE trashed_at IS NOT NULL") == 0)
        }
    }

    @Test("a job doesn't change a list that an undo couldn't restore")
    func longLists() async throws {
        try await Self.run { site in
            let (session, speaker) = (site.fixture.sessions[0], site.fixture.speakers[0])
            try await site.fixture.pool.query(
                """
                INSERT INTO session_speakers (_id, owner, rank, target)
                SELECT substr(sha256(n::text::bytea), 1, 12), $1, 'b' || lpad(n::text, 6, '0'), $2
                FROM generate_series(1, 1001) n
                """, [.objectId(session), .objectId(speaker)])
            let speakers = "SELECT count(*) FROM session_speakers WHERE owner = '\\x\(session)'"
            let before = try await site.count(speakers)
            let data = #"{"relationships": {"speakers": {"data": []}}}"#
            let asked = try await site.call(
                .post, "/bulk/sessions", as: "owner",
                body: #"{"action": "update", "ids": ["\#(session)"], "data": \#(data)}"#)
            #expect(asked.status == 202, "\(asked.text)")
            let file = try await UploadedFile.upload(site, "id,speakers\n\(session),[]\n", to: "sessions")
            let started = try await file.start([#""mode": "update""#])
            #expect(started.status == 202, "\(started.text)")
            try await site.work()
            for job in [try await site.job(asked, as: "owner"), try await file.job()] {
                #expect(job.json["refused"] == 1 && job.json["leftAlone"] == 0, "\(job.text)")
            }
            #expect(try await site.count(speakers) == before && before > 1_001)
        }
    }

    @Test("a job is undone only once, no matter how many request it at the same time")
    func undoneOnce() async throws {
        try await Self.run { site in
            try await site.addTickets(20)
            let asked = try await site.call(
                .post, Self.all, as: "owner", body: Self.price(7, #""expect": {"count": 20}"#))
            #expect(asked.status == 202, "\(asked.text)")
            try await site.work()
            let path = "/jobs/\(asked.json["id"]?.number ?? 0)/undo"
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await site.call(.post, path, as: "owner").status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 202 } == 1 && statuses.count { $0 == 409 } == 7, "\(statuses)")
        }
    }

    @Test("a request is refused if it matches more resources than were shown, or others")
    func expectations() async throws {
        try await Self.run { site in
            try await site.addTickets(20)
            let bare = try await site.call(.post, Self.all, as: "owner", body: Self.price(7, #""dryRun": false"#))
            #expect(bare.status == 428, "\(bare.text)")
            let trial = try await site.call(.post, Self.all, as: "owner", body: Self.price(7, #""dryRun": true"#))
            let version = try #require(trial.json["version"]?.text)
            try await site.addTickets(1, prefix: "new")
            for expectation in [#"{"count": 20}"#, #"{"count": 21, "version": "\#(version)"}"#] {
                let answer = try await site.call(
                    .post, Self.all, as: "owner", body: Self.price(7, #""expect": \#(expectation)"#))
                #expect(answer.status == 409 && answer.json["details"]?["count"] == 21, "\(answer.text)")
            }
            #expect(try await site.count("SELECT count(*) FROM tombolo.job_row") == 0)
            let gone = try await site.call(
                .post, "/bulk/tickets", as: "owner",
                body: #"{"action": "trash", "ids": ["\#(ObjectId.generate())", "\#(site.fixture.tickets[0])"]}"#)
            #expect(gone.status == 409, "\(gone.text)")
        }
    }

    @Test("each row is checked against the rules at that time, and a demoted user's job stops with the reason")
    func rights() async throws {
        try await Self.run { site in
            try await site.addTickets(120)
            try await site.addTickets(5, event: site.fixture.draft, prefix: "nd")
            for (role, status) in [("attendee", 403), ("stranger", 200), ("registrar", 403)] {
                let answer = try await site.call(.post, Self.all, as: role, body: Self.price(7, #""dryRun": true"#))
                #expect(answer.status == status, "\(role): \(answer.text)")
                guard status == 200 else { continue }
                // The stranger sees the other event's public tickets, and may change their own.
                #expect(answer.json["count"] == 125 && (answer.json["refused"]?.number ?? 0) > 0, "\(answer.text)")
                #expect((answer.json["refusals"]?.list.count ?? 0) <= BulkTrial.sampleLimit)
                #expect(answer.json["refusals"]?.list.first?["reason"]?.text?.isEmpty == false)
            }
            #expect(try await site.call(.post, Self.all, body: Self.price(7, #""dryRun": true"#)).status == 401)
            let asked = try await site.call(
                .post, Self.all, as: "stranger", body: Self.price(7, #""expect": {"count": 125}"#))
            #expect(asked.status == 202, "\(asked.text)")
            try await site.work()
            let over = try await site.job(asked, as: "stranger")
            #expect(over.json["done"] == 5 && over.json["refused"] == 120, "\(over.text)")
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 7") == 5)

            let second = try await site.call(
                .post, Self.all, as: "organizer", body: Self.price(9, #""expect": {"count": 125}"#))
            #expect(try await site.runner.step())
            try await site.fixture.pool.query(
                "DELETE FROM role_assignment WHERE \"user\" = $1",
                [.objectId(try #require(site.fixture.users["organizer"]))])
            site.fixture.forgetRoles()
            try await site.work()
            let stopped = try await site.job(second, as: "organizer")
            #expect(stopped.json["state"] == "failed" && stopped.json["done"] == 100, "\(stopped.text)")
            #expect(stopped.json["message"]?.text?.hasPrefix("You no longer have permission to do this: ") == true)
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 9") == 100)
        }
    }

    @Test("a demoted or deleted user's undo changes nothing, and nobody can touch somebody else's job")
    func others() async throws {
        try await Self.run { site in
            try await site.addTickets(3)
            let asked = try await site.call(
                .post, Self.all, as: "owner", body: Self.price(7, #""expect": {"count": 3}"#))
            let path = "/jobs/\(asked.json["id"]?.number ?? 0)"
            for role in ["superAdmin", "admin", "organizer", "attendee"] {
                for (method, address) in [
                    (HTTPRequest.Method.get, ""), (.get, "/rows"), (.post, "/cancel"), (.post, "/undo"),
                ] {
                    let others = try await site.call(method, path + address, as: role)
                    // No job has this number.
                    let none = try await site.call(method, "/jobs/1000000\(address)", as: role)
                    #expect(others.status == 404 && none.status == 404, "\(role) \(address): \(others.text)")
                    for name in ["code", "message", "hint"] { #expect(others.json[name] == none.json[name]) }
                }
                #expect(try await site.call(.get, "/jobs", as: role).json["jobs"] == [])
            }
            #expect(try await site.call(.get, "/jobs").status == 401)
            #expect(try await site.call(.post, "\(path)/undo", as: "owner").status == 409, "in progress")
            let cancelled = try await site.call(.post, "\(path)/cancel", as: "owner")
            #expect(cancelled.json["state"] == "cancelled", "\(cancelled.text)")
            try await site.work()
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 7") == 0)
            #expect(try await site.call(.post, "\(path)/cancel", as: "owner").status == 409)
            #expect(try await site.call(.post, "\(path)/undo", as: "owner").status == 409, "nothing was done")
            #expect(try await site.call(.get, "/jobs", as: "owner").json["jobs"]?.list.count == 1)
        }
    }

    @Test("resources go into the trash with what belongs to them; an undo or a restore job brings them back")
    func trash() async throws {
        try await Self.run { site in
            let body = { (action: String, more: String) in #"{"action": "\#(action)", "all": true, \#(more)}"# }
            let trial = try await site.call(
                .post, "/bulk/events", as: "superAdmin", body: body("trash", #""dryRun": true"#))
            #expect(trial.json["count"] == 2 && trial.json["refused"] == 0, "\(trial.text)")
            #expect((trial.json["along"]?.number ?? 0) > 5, "sessions, tickets, rooms, speakers")
            let asked = try await site.call(
                .post, "/bulk/events", as: "superAdmin", body: body("trash", #""expect": {"count": 2}"#))
            try await site.work()
            #expect(try await site.job(asked, as: "superAdmin").json["done"] == 2)
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE trashed_at IS NULL") == 0)
            let undo = try await site.call(.post, "/jobs/\(asked.json["id"]?.number ?? 0)/undo", as: "superAdmin")
            try await site.work()
            let undone = try await site.job(undo, as: "superAdmin")
            #expect(undone.json["done"] == 2, "\(undone.text)")
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE trashed_at IS NOT NULL") == 0)

            _ = try await site.call(
                .post, "/bulk/sessions", as: "superAdmin", body: body("trash", #""expect": {"count": 4}"#))
            try await site.work()
            #expect(try await site.count("SELECT count(*) FROM session WHERE trashed_at IS NOT NULL") == 4)
            let refused = try await site.call(
                .post, "/bulk/sessions", as: "attendee", body: body("restore", #""dryRun": true"#))
            #expect(refused.status == 403, "\(refused.text)")
            let restore = try await site.call(
                .post, "/bulk/sessions?filter[title][startsWith]=Talk", as: "superAdmin",
                body: body("restore", #""expect": {"count": 3}"#))
            #expect(restore.status == 202, "\(restore.text)")
            try await site.work()
            #expect(try await site.job(restore, as: "superAdmin").json["done"] == 3)
            #expect(try await site.count("SELECT count(*) FROM session WHERE trashed_at IS NOT NULL") == 1)
            let back = try await site.call(.post, "/jobs/\(restore.json["id"]?.number ?? 0)/undo", as: "superAdmin")
            try await site.work()
            #expect(try await site.job(back, as: "superAdmin").json["done"] == 3)
            #expect(try await site.count("SELECT count(*) FROM session WHERE trashed_at IS NOT NULL") == 4)
        }
    }

    @Test("several servers working at once process each row once, and users take turns")
    func servers() async throws {
        try await Self.run { site in
            try await site.addTickets(450)
            try await site.fixture.pool.execute(
                """
                CREATE TABLE public.seen (key bytea);
                GRANT ALL ON public.seen TO PUBLIC;
                CREATE FUNCTION public.see() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN INSERT INTO public.seen VALUES (NEW._id); RETURN NULL; END$$;
                CREATE TRIGGER see AFTER UPDATE ON ticket FOR EACH ROW WHEN (NEW.price IS DISTINCT FROM OLD.price)
                EXECUTE FUNCTION public.see()
                """)
            for _ in 0..<2 {
                let answer = try await site.call(
                    .post, Self.all, as: "owner", body: Self.price(7, #""expect": {"count": 450}"#))
                #expect(answer.status == 202)
            }
            _ = try await site.call(
                .post, "/bulk/tickets?filter[name]=n5", as: "superAdmin",
                body: #"{"action": "trash", "all": true, "expect": {"count": 1}}"#)
            #expect(try await site.runner.step())
            #expect(try await site.runner.step())
            #expect(try await site.count("SELECT count(*) FROM tombolo.job WHERE state = 'done'") == 1, "the admin's")
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 { group.addTask { try await site.work() } }
                try await group.waitForAll()
            }
            try await site.work()
            #expect(try await site.count("SELECT count(*) FROM tombolo.job WHERE state = 'done'") == 3)
            let done = try await site.count("SELECT sum(done) FROM tombolo.job WHERE kind = 'update'")
            #expect(done == 449 || done == 450, "one went into the trash meanwhile")
            #expect(try await site.count("SELECT sum(refused) FROM tombolo.job") <= 2)
            #expect(try await site.count("SELECT count(*) FROM public.seen") == done)
            #expect(try await site.count("SELECT count(DISTINCT key) FROM public.seen") == done)
        }
    }

    @Test("jobs of unknown kinds are left to newer servers, and given up only once there seem to be none")
    func newerKind() async throws {
        try await Self.run { site in
            try await site.addTickets(1)
            for role in ["owner", "superAdmin"] {
                let answer = try await site.call(
                    .post, Self.all, as: role, body: Self.price(7, #""expect": {"count": 1}"#))
                #expect(answer.status == 202, "\(answer.text)")
                try await site.fixture.pool.execute(
                    "UPDATE tombolo.job SET kind = 'newer' WHERE NOT EXISTS (SELECT FROM tombolo.job WHERE kind = 'newer')"
                )
            }
            try await site.work()
            #expect(try await site.count("SELECT count(*) FROM tombolo.job WHERE state = 'done'") == 1, "the admin's")
            let newer = "FROM tombolo.job WHERE kind = 'newer' AND state"
            #expect(try await site.count("SELECT attempts \(newer) = 'queued'") == 0)

            for attempts in 1..<Job.attemptLimit {
                try await Self.age(site)
                await #expect(throws: RequestFailure.self) { try await site.runner.step() }
                #expect(try await !site.runner.step(), "not retried at once")
                #expect(try await site.count("SELECT attempts \(newer) = 'queued'") == attempts)
            }
            try await Self.age(site)
            await #expect(throws: RequestFailure.self) { try await site.runner.step() }
            #expect(try await site.count("SELECT count(*) \(newer) = 'failed'") == 1)
        }
    }

    /// Makes all jobs two hours older.
    private static func age(_ site: Site) async throws {
        try await site.fixture.pool.execute(
            """
            UPDATE tombolo.job SET created_at = created_at - interval '2 hours', progress_at = progress_at - interval '2 hours'
            """)
    }

    @Test("an invalid request is refused with the reason, and creates no job")
    func hostile() async throws {
        try await Self.run { site in
            let id = site.fixture.tickets[0]
            for (body, status) in [
                ("", 400), ("[]", 400), ("{}", 400), (#"{"action": "explode", "ids": ["\#(id)"]}"#, 400),
                (#"{"action": "delete", "ids": ["\#(id)"]}"#, 400), (#"{"action": "trash"}"#, 400),
                (#"{"action": "trash", "ids": []}"#, 400), (#"{"action": "trash", "ids": ["x"]}"#, 400),
                (#"{"action": "trash", "ids": [1]}"#, 400),
                (#"{"action": "trash", "ids": ["\#(id)"], "all": true}"#, 400),
                (#"{"action": "trash", "ids": ["\#(id)"], "data": {}}"#, 400),
                (#"{"action": "update", "ids": ["\#(id)"]}"#, 400),
                (#"{"action": "update", "ids": ["\#(id)"], "data": {}}"#, 400),
                (#"{"action": "update", "ids": ["\#(id)"], "data": {"attributes": {"price": "x"}}}"#, 422),
                (#"{"action": "update", "ids": ["\#(id)"], "data": {"attributes": {"nothing": 1}}}"#, 422),
                (#"{"action": "trash", "all": true, "expect": {"count": "many"}}"#, 400),
                (#"{"action": "trash", "all": true, "expect": 3}"#, 400),
                (#"{"action": "trash", "ids": ["\#(id)"], "extra": 1}"#, 400),
                (#"{"action": "trash", "all": 1}"#, 400),
            ] {
                let answer = try await site.call(.post, "/bulk/tickets", as: "owner", body: body)
                #expect(answer.status == status, "\(body): \(answer.text)")
            }
            for query in ["filter[nothing]=1", "page[size]=1", "sort=name", "filter[name]=x"] {
                let answer = try await site.call(
                    .post, "/bulk/tickets?\(query)", as: "owner", body: #"{"action": "trash", "ids": ["\#(id)"]}"#)
                #expect(answer.status == 400, "\(query): \(answer.text)")
            }
            for path in ["/jobs/x", "/jobs/9223372036854775808", "/jobs/1", "/jobs/-1"] {
                #expect(try await site.call(.get, path, as: "owner").status == 404)
            }
            #expect(try await site.call(.get, "/jobs?before=x", as: "owner").status == 400)
            #expect(try await site.count("SELECT count(*) FROM tombolo.job") == 0)
            for number in 0...Job.openLimit {
                let answer = try await site.call(
                    .post, "/bulk/tickets", as: "owner", body: #"{"action": "trash", "ids": ["\#(id)"]}"#)
                #expect(answer.status == (number < Job.openLimit ? 202 : 429), "\(answer.text)")
            }
        }
    }
}
