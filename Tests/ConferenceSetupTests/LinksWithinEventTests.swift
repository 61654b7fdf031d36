import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloPostgresStore

@testable import ConferenceSetup

@Suite struct LinksWithinEventTests {
    private let event = "'\\x0000000000000000000000e1'::bytea"
    private let other = "'\\x0000000000000000000000e2'::bytea"
    private let speaker = "'\\x0000000000000000000000a1'::bytea"
    private let contact = "'\\x0000000000000000000000c1'::bytea"

    private func prepare(_ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            INSERT INTO event (_id, name) VALUES (\(event), 'One'), (\(other), 'Two');
            INSERT INTO speaker (_id, event) VALUES (\(speaker), \(event))
            """)
    }

    @Test("a link leads to an object of the same event, whoever writes")
    func sameEvent() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            func insert(_ event: String) async throws {
                try await pool.execute(
                    "INSERT INTO speaker_contact (_id, event, speaker) VALUES (\(contact), \(event), \(speaker))")
            }
            let refused = await #expect(throws: PostgresError.self) { try await insert(other) }
            #expect(refused?.constraintName == LinksWithinEvent.constraint)
            #expect(refused?.columnName == "speaker")
            #expect(refused?.isRefusal == true)
            try await insert(event)
            // Neither the link nor the event of an object that is there may part.
            await #expect(throws: PostgresError.self) {
                try await pool.execute("UPDATE speaker_contact SET event = \(other)")
            }
            try await pool.execute("UPDATE speaker_contact SET event = \(other), speaker = NULL")
            await #expect(throws: PostgresError.self) {
                try await pool.execute("UPDATE speaker_contact SET speaker = \(speaker)")
            }
        }
    }

    @Test("a database with a foreign link from before takes the check, and the row stays")
    func upgrade() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            try await pool.execute("DROP TRIGGER \(LinksWithinEvent.trigger) ON speaker_contact")
            try await pool.execute(
                "INSERT INTO speaker_contact (_id, event, speaker) VALUES (\(contact), \(other), \(speaker))")
            let steps = try await pool.withConnection { connection in
                [
                    try await Conference.migrator(connection).apply().map(\.name),
                    try await Conference.migrator(connection).apply().map(\.name),
                ]
            }
            #expect(steps == [["links within events"], []])
            try await pool.execute("UPDATE speaker_contact SET email = 'a@example.org'")
            await #expect(throws: PostgresError.self) {
                try await pool.execute("UPDATE speaker_contact SET speaker = \(speaker)")
            }
        }
    }

    @Test("an event that is deleted lets go of what belonged to it, links and lists included")
    func deletion() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            try await pool.execute(
                """
                INSERT INTO speaker_contact (_id, event, speaker) VALUES (\(contact), \(event), \(speaker));
                INSERT INTO track (_id, event, name) VALUES (\(contact), \(event), 'T');
                INSERT INTO microlocation (_id, event, name) VALUES (\(contact), \(event), 'R');
                INSERT INTO session (_id, event, track, room) VALUES (\(contact), \(event), \(contact), \(contact));
                INSERT INTO session_speakers (_id, owner, rank, target)
                VALUES (\(contact), \(contact), 'a1', \(speaker));
                INSERT INTO ticket (_id, event, rank) VALUES (\(contact), \(event), 'a1');
                INSERT INTO orders (_id, event, ticket) VALUES (\(contact), \(event), \(contact))
                """)
            // While it's there, nothing leaves it without its links.
            await #expect(throws: PostgresError.self) { try await pool.execute("UPDATE session SET event = NULL") }
            try await pool.execute("DELETE FROM event WHERE _id = \(event)")
            for table in ["session", "speaker_contact", "orders"] {
                let left = try await pool.query("SELECT count(*)::int FROM \(table) WHERE event IS NULL")
                #expect(try left[0, 0].int == 1, "\(table)")
            }
        }
    }
}
