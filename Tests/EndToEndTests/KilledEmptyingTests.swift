import NIOHTTP1
import PostgresClient
import Testing

@Suite("An admin server that is killed while it empties the trash", .serialized, .timeLimit(.minutes(15)))
struct KilledEmptyingTests {
    private static let groups = 300

    private struct Counts {
        let tracks: Int
        let sessions: Int
    }

    private static func counts(_ stage: KilledStage) async throws -> Counts {
        let row = try await stage.owner.query(
            "SELECT (SELECT count(*) FROM track)::int, (SELECT count(*) FROM session)::int")[0]
        return Counts(tracks: try row[0].int, sessions: try row[1].int)
    }

    /// - Returns: the number of groups that are left.
    private static func check(_ stage: KilledStage) async throws -> Int {
        let now = try await counts(stage)
        #expect(now.sessions == 2 * now.tracks, "a group is torn")
        let row = try await stage.owner.query(
            """
            SELECT (SELECT count(*) FROM track t JOIN session s ON s.track = t._id
                    WHERE s.trash_group IS DISTINCT FROM t.trash_group OR t.trashed_at IS NULL)::int,
                (SELECT count(*) FROM tombolo.changelog WHERE operation = 'e')::int,
                (SELECT count(DISTINCT (class, key)) FROM tombolo.changelog WHERE operation = 'e')::int
            """)[0]
        #expect(try row[0].int == 0, "a remaining group is torn")
        let gone = 3 * (groups - now.tracks)
        #expect(try row[1].int == gone && row[2].int == gone, "an object was deleted twice or without a record")
        return now.tracks
    }

    @Test("leaves whole groups, and the next request to empty it deletes the rest, nothing twice")
    func killed() async throws {
        let stage = try await KilledStage("killed-emptying")
        try await stage.fillTrash(groups: Self.groups, daysAgo: 0)
        var left = Self.groups
        for round in 0..<2 {
            let server = stage.server("killed-\(round)")
            try await server.start()
            let call = try await stage.client(of: server)
            let bound = try await stage.turnstile.admit(Int.random(in: 40...100))
            // Repeats the request when the busy server gives up. The loop ends with the server.
            let request = Task { while true { _ = try await call(.POST, "/admin/trash/empty") } }
            try await stage.turnstile.untilPassed(bound)
            try await server.kill9()
            _ = await request.result
            try await stage.untilOrphansEnd()
            let before = left
            left = try await Self.check(stage)
            #expect(left < before && left >= before - 51)
        }
        let last = stage.server("last")
        try await last.start()
        let call = try await stage.client(of: last)
        var deleted = 0
        var next: String?
        repeat {
            let answer = try await call(.POST, "/admin/trash/empty" + (next.map { "?after=\($0)" } ?? ""))
            #expect(answer.status == 200, "\(answer.content)")
            deleted += answer.number("count") ?? 0
            next = answer.text("next")
        } while next != nil
        #expect(deleted == 3 * left, "the reported count isn't the number of deleted objects")
        #expect(try await Self.check(stage) == 0)
        try await last.kill9()
        try await stage.end()
    }
}
