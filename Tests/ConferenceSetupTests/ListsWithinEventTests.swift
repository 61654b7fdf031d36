import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloPostgresStore

@testable import ConferenceSetup

private typealias Key = TwoEvents

/// A session's speakers are a list, whose elements are separate rows.
@Suite struct ListsWithinEventTests {
    private let session = "'\\x0000000000000000000000b1'::bytea"

    private func with(_ body: (PostgresPool) async throws -> Void) async throws {
        try await TwoEvents.with { pool in
            try await pool.execute("INSERT INTO session (_id, event) VALUES (\(session), \(Key.event))")
            try await body(pool)
        }
    }

    private func element(_ number: Int, _ target: String) -> String {
        """
        INSERT INTO session_speakers (_id, owner, rank, target)
        VALUES (decode(lpad('\(number)', 24, '0'), 'hex'), \(session), 'a\(number)', \(target))
        """
    }

    /// The database's error for a statement that it must refuse.
    private func refusal(_ pool: PostgresPool, _ sql: String) async throws -> PostgresError {
        let error = await #expect(throws: PostgresError.self, "\(sql)") { try await pool.execute(sql) }
        return try #require(error)
    }

    @Test("a list contains objects of the same event only, whoever writes")
    func sameEvent() async throws {
        try await with { pool in
            try await pool.execute(element(1, Key.speaker))
            for sql in [element(2, Key.stranger), "UPDATE session_speakers SET target = \(Key.stranger)"] {
                let refused = try await refusal(pool, sql)
                #expect(refused.constraintName == LinksWithinEvent.constraint && refused.columnName == "target")
                #expect(refused.tableName == "session_speakers" && refused.isRefusal)
                #expect(refused.raisedSentence == "The speaker belongs to another event.")
                #expect(refused.hint == "Choose one of the same event.")
            }
            try await pool.execute("UPDATE session_speakers SET rank = 'b'")
        }
    }

    @Test("an object can move to another event without its list's elements, or after their targets have moved")
    func moves() async throws {
        try await with { pool in
            try await pool.execute(element(1, Key.speaker))
            let move = "UPDATE session SET event = \(Key.other)"
            let refused = try await refusal(pool, move)
            #expect(refused.columnName == "event" && refused.tableName == "session")
            #expect(refused.raisedSentence == "The list has a speaker of another event.")
            try await pool.execute("UPDATE session SET event = event, title = 'Stays'")
            // The link's target may move first, as with a room or a contact's speaker.
            try await pool.execute("UPDATE speaker SET event = \(Key.other) WHERE _id = \(Key.speaker)")
            try await pool.execute(move)
            try await pool.execute("DELETE FROM session_speakers; UPDATE session SET event = \(Key.event)")
        }
    }

    @Test("a statement with many rows is refused because of a single one from another event")
    func large() async throws {
        try await with { pool in
            func insert(_ wrong: Int) -> String {
                """
                INSERT INTO session_speakers (_id, owner, rank, target)
                SELECT decode(lpad(n::text, 24, '0'), 'hex'), \(session), 'a' || n,
                    CASE n WHEN \(wrong) THEN \(Key.stranger) ELSE \(Key.speaker) END
                FROM generate_series(1, 1500) AS n
                """
            }
            #expect(try await refusal(pool, insert(1_499)).constraintName == LinksWithinEvent.constraint)
            try await pool.execute(insert(0))
            let count = try await pool.query("SELECT count(*) FROM session_speakers")
            #expect(try count[0, 0].int == 1_500)
        }
    }

    @Test("an older database with such an element gets the check, and the element stays")
    func upgrade() async throws {
        try await with { pool in
            try await pool.execute("DROP TRIGGER \(LinksWithinEvent.trigger) ON session_speakers")
            try await pool.execute(element(1, Key.stranger))
            let steps = try await pool.withConnection { try await Conference.migrator($0).apply().map(\.name) }
            #expect(steps == ["links within events"])
            try await pool.execute("UPDATE session_speakers SET rank = 'b'; UPDATE session SET title = 'New'")
            _ = try await refusal(pool, element(2, Key.stranger))
        }
    }
}
