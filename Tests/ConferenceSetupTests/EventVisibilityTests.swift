import EventModels
import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloModel
import TomboloPostgresStore

@testable import ConferenceSetup

@Suite struct EventVisibilityTests {
    private let event = "'\\x0000000000000000000000e1'::bytea"
    private let other = "'\\x0000000000000000000000e2'::bytea"
    private let tables = ["microlocation", "session", "social_link", "speaker", "sponsor", "ticket", "track"]

    private func prepare(_ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            INSERT INTO event (_id, name, state, privacy) VALUES (\(event), 'One', 'draft', 'public'),
                (\(other), 'Two', 'published', 'public')
            """)
        for (number, table) in tables.enumerated() {
            try await pool.execute(
                "INSERT INTO \(table) (_id, event, is_public) VALUES ('\\x00000000000000000000000\(number)', \(event), true)"
            )
        }
    }

    /// The distinct values of `isPublic` among the event's rows in all classes.
    private func visible(_ pool: PostgresPool, _ tables: [String]? = nil) async throws -> Set<Bool> {
        var result: Set<Bool> = []
        for table in tables ?? self.tables {
            for row in try await pool.query("SELECT is_public FROM \(table)") { result.insert(try row[0].bool) }
        }
        return result
    }

    @Test func everyClassOfAnEventSaysWhetherItIsPublic() {
        let classes = EventModels.schema.classes.filter { $0.columnIndex("isPublic") != nil }
        #expect(classes.map(\.table).sorted() == tables)
    }

    @Test func theEventDecidesVisibilityWhateverIsWritten() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            #expect(try await visible(pool) == [false])
            for table in tables { try await pool.execute("UPDATE \(table) SET is_public = true") }
            #expect(try await visible(pool) == [false])
        }
    }

    @Test func publishingAndUnpublishingReachEveryClass() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            let changes: [(String, Bool)] = [
                ("state = 'published'", true), ("privacy = 'private'", false), ("privacy = 'public'", true),
                ("trashed_at = now()", false), ("trashed_at = NULL", true), ("state = 'draft'", false),
            ]
            for (change, expected) in changes {
                try await pool.execute("UPDATE event SET \(change) WHERE _id = \(event)")
                #expect(try await visible(pool) == [expected], "\(change)")
            }
        }
    }

    @Test func aMovedObjectFollowsItsNewEvent() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            try await pool.execute("UPDATE session SET event = \(other)")
            #expect(try await visible(pool, ["session"]) == [true])
            try await pool.execute("DELETE FROM event WHERE _id = \(other)")
            #expect(try await visible(pool, ["session"]) == [false])
        }
    }

    @Test func rowsOlderThanTheTriggersAreCorrected() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            try await pool.execute("DROP TRIGGER tombolo_public ON track; UPDATE track SET is_public = true")
            #expect(try await visible(pool, ["track"]) == [true])
            try await pool.withConnection { connection in
                let applied = try await Conference.migrator(connection).apply()
                #expect(applied.map(\.name) == ["visibility of events"])
            }
            #expect(try await visible(pool) == [false])
        }
    }

    /// Publishing an event while somebody adds to it: whichever commits first, the row ends up right.
    @Test(.timeLimit(.minutes(15)), arguments: [true, false])
    func publishingAndAddingAtOnceLeaveNoRowBehind(_ addsFirst: Bool) async throws {
        try await Databases.withConference { pool in
            try await pool.execute(
                "INSERT INTO event (_id, name, state, privacy) VALUES (\(event), 'One', 'draft', 'public')")
            let add = "INSERT INTO track (_id, event) VALUES ('\\x000000000000000000000001', \(event))"
            let publish = "UPDATE event SET state = 'published' WHERE _id = \(event)"
            try await pool.withConnection { first in
                try await first.execute("BEGIN")
                try await first.execute(addsFirst ? add : publish)
                let second = Task { try await pool.execute(addsFirst ? publish : add) }
                while try await pool.query(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """)[0, 0].int == 0
                {
                    try await Task.sleep(for: .milliseconds(1))
                }
                try await first.execute("COMMIT")
                _ = try await second.value
            }
            #expect(try await visible(pool, ["track"]) == [true])
        }
    }
}
