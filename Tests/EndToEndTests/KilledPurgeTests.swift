import PostgresClient
import Testing

@Suite("An admin server that is killed while it purges the trash", .serialized, .timeLimit(.minutes(15)))
struct KilledPurgeTests {
    private static let groups = 600

    private struct Counts {
        let tracks: Int
        let sessions: Int
        /// The number of objects that the purge runs say they deleted.
        let deleted: Int
    }

    private static func counts(_ stage: KilledStage) async throws -> Counts {
        let row = try await stage.owner.query(
            """
            SELECT (SELECT count(*) FROM track)::int, (SELECT count(*) FROM session)::int,
                (SELECT coalesce(sum(objects), 0) FROM tombolo.trash_run)::int
            """)[0]
        return Counts(tracks: try row[0].int, sessions: try row[1].int, deleted: try row[2].int)
    }

    @Test("leaves whole groups, the next one goes on, and nothing is deleted or counted twice")
    func killed() async throws {
        let stage = try await KilledStage("killed-purge")
        try await stage.fillTrash(groups: Self.groups, daysAgo: 31)
        var left = Self.groups
        for round in 0..<4 {
            let isLast = round == 3
            // A third of what is left; in the last round, all of it.
            let third = 2 * left / 3
            let bound = try await stage.turnstile.admit(third)
            if isLast { try await stage.turnstile.open() }
            let server = stage.server("round-\(round)")
            try await server.start()
            if isLast {
                while try await Self.counts(stage).tracks > 0 { await Task.yield() }
                try await server.terminate()
            } else {
                try await stage.turnstile.untilPassed(bound - Int.random(in: 0...third / 2))
                try await server.kill9()
            }
            try await stage.untilOrphansEnd()
            let now = try await Self.counts(stage)
            #expect(now.tracks < left && (now.tracks == 0) == isLast)
            left = now.tracks
            #expect(now.sessions == 2 * now.tracks, "a group is torn")
            #expect(now.deleted == 3 * (Self.groups - now.tracks), "the recorded count is wrong")
        }
        let erased = try await stage.owner.query(
            """
            SELECT count(*)::int, count(DISTINCT (l.class, l.key))::int FROM tombolo.changelog l WHERE l.operation = 'e'
            """)
        #expect(try erased[0][0].int == 3 * Self.groups && erased[0][1].int == 3 * Self.groups)
        let unfinished = try await stage.owner.query(
            "SELECT 1 FROM tombolo.trash_run WHERE problem LIKE '%ended before%'")
        #expect(unfinished.count == 3)
        try await stage.end()
    }
}
