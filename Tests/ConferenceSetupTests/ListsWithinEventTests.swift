import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloPostgresStore

@testable import ConferenceSetup

/// The speakers of a session are a list, whose elements are rows of their own.
@Suite struct ListsWithinEventTests {
    private let event = "'\\x0000000000000000000000e1'::bytea"
    private let other = "'\\x0000000000000000000000e2'::bytea"
    private let session = "'\\x0000000000000000000000b1'::bytea"
    private let speaker = "'\\x0000000000000000000000a1'::bytea"
    private let stranger = "'\\x0000000000000000000000a2'::bytea"

    private func prepare(_ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            INSERT INTO event (_id, name) VALUES (\(event), 'One'), (\(other), 'Two');
            INSERT INTO speaker (_id, event) VALUES (\(speaker), \(event)), (\(stranger), \(other));
            INSERT INTO session (_id, event) VALUES (\(session), \(event))
            """)
    }

    private func element(_ number: Int, _ target: String) -> String {
        """
        INSERT INTO session_speakers (_id, owner, rank, target)
        VALUES (decode(lpad('\(number)', 24, '0'), 'hex'), \(session), 'a\(number)', \(target))
        """
    }

    /// What the database says to a statement, which it refuses.
    private func refusal(_ pool: PostgresPool, _ sql: String) async throws -> PostgresError {
        let error = await #expect(throws: PostgresError.self, "\(sql)") { try await pool.execute(sql) }
        return try #require(error)
    }

    @Test("a list has objects of the same event only, whoever writes")
    func sameEvent() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            try await pool.execute(element(1, speaker))
            for sql in [element(2, stranger), "UPDATE session_speakers SET target = \(stranger)"] {
                let refused = try await refusal(pool, sql)
                #expect(refused.constraintName == LinksWithinEvent.constraint && refused.columnName == "target")
                #expect(refused.tableName == "session_speakers" && refused.isRefusal)
                #expect(refused.raisedSentence == "The speaker belongs to another event.")
                #expect(refused.hint == "Choose one of the same event.")
            }
            try await pool.execute("UPDATE session_speakers SET rank = 'b'")
        }
    }

    @Test("an object moves to another event without the elements of its list, or behind what they lead to")
    func moves() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            try await pool.execute(element(1, speaker))
            let move = "UPDATE session SET event = \(other)"
            let refused = try await refusal(pool, move)
            #expect(refused.columnName == "event" && refused.tableName == "session")
            #expect(refused.raisedSentence == "The list has a speaker of another event.")
            try await pool.execute("UPDATE session SET event = event, title = 'Stays'")
            // What is linked to may go first, as with a room or a speaker of a contact.
            try await pool.execute("UPDATE speaker SET event = \(other) WHERE _id = \(speaker)")
            try await pool.execute(move)
            try await pool.execute("DELETE FROM session_speakers; UPDATE session SET event = \(event)")
        }
    }

    @Test("a statement with many rows is refused for one of another event")
    func large() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            func insert(_ wrong: Int) -> String {
                """
                INSERT INTO session_speakers (_id, owner, rank, target)
                SELECT decode(lpad(n::text, 24, '0'), 'hex'), \(session), 'a' || n,
                    CASE n WHEN \(wrong) THEN \(stranger) ELSE \(speaker) END
                FROM generate_series(1, 1500) AS n
                """
            }
            #expect(try await refusal(pool, insert(1_499)).constraintName == LinksWithinEvent.constraint)
            try await pool.execute(insert(0))
            let count = try await pool.query("SELECT count(*) FROM session_speakers")
            #expect(try count[0, 0].int == 1_500)
        }
    }

    @Test("a database with such an element from before takes the check, and the element stays")
    func upgrade() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            try await pool.execute("DROP TRIGGER \(LinksWithinEvent.trigger) ON session_speakers")
            try await pool.execute(element(1, stranger))
            let steps = try await pool.withConnection { try await Conference.migrator($0).apply().map(\.name) }
            #expect(steps == ["links within events"])
            try await pool.execute("UPDATE session_speakers SET rank = 'b'; UPDATE session SET title = 'New'")
            _ = try await refusal(pool, element(2, stranger))
        }
    }
}
