import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloPostgresStore

@testable import ConferenceSetup

private typealias Key = TwoEvents

@Suite struct LinksWithinEventTests {
    private let contact = "'\\x0000000000000000000000c1'::bytea"

    @Test("a link must lead to an object of the same event, whoever writes")
    func sameEvent() async throws {
        try await TwoEvents.with { pool in
            func insert(_ event: String) async throws {
                try await pool.execute(
                    "INSERT INTO speaker_contact (_id, event, speaker) VALUES (\(contact), \(event), \(Key.speaker))")
            }
            let refused = await #expect(throws: PostgresError.self) { try await insert(Key.other) }
            #expect(refused?.constraintName == LinksWithinEvent.constraint)
            #expect(refused?.columnName == "speaker")
            #expect(refused?.isRefusal == true)
            try await insert(Key.event)
            // Neither the link nor the event of an existing object may change alone.
            await #expect(throws: PostgresError.self) {
                try await pool.execute("UPDATE speaker_contact SET event = \(Key.other)")
            }
            try await pool.execute("UPDATE speaker_contact SET event = \(Key.other), speaker = NULL")
            await #expect(throws: PostgresError.self) {
                try await pool.execute("UPDATE speaker_contact SET speaker = \(Key.speaker)")
            }
        }
    }

    @Test("an older database with a link between events gets the check, and the row stays")
    func upgrade() async throws {
        try await TwoEvents.with { pool in
            try await pool.execute("DROP TRIGGER \(LinksWithinEvent.trigger) ON speaker_contact")
            try await pool.execute(
                "INSERT INTO speaker_contact (_id, event, speaker) VALUES (\(contact), \(Key.other), \(Key.speaker))")
            let steps = try await pool.withConnection { connection in
                [
                    try await Conference.migrator(connection).apply().map(\.name),
                    try await Conference.migrator(connection).apply().map(\.name),
                ]
            }
            #expect(steps == [["links within events"], []])
            try await pool.execute("UPDATE speaker_contact SET email = 'a@example.org'")
            await #expect(throws: PostgresError.self) {
                try await pool.execute("UPDATE speaker_contact SET speaker = \(Key.speaker)")
            }
        }
    }

    @Test("deleting an event removes it from the objects that belonged to it, along with their links and lists")
    func deletion() async throws {
        try await TwoEvents.with { pool in
            try await pool.execute(
                """
                INSERT INTO speaker_contact (_id, event, speaker) VALUES (\(contact), \(Key.event), \(Key.speaker));
                INSERT INTO track (_id, event, name) VALUES (\(contact), \(Key.event), 'T');
                INSERT INTO microlocation (_id, event, name) VALUES (\(contact), \(Key.event), 'R');
                INSERT INTO session (_id, event, track, room) VALUES (\(contact), \(Key.event), \(contact), \(contact));
                INSERT INTO session_speakers (_id, owner, rank, target)
                VALUES (\(contact), \(contact), 'a1', \(Key.speaker));
                INSERT INTO ticket (_id, event, rank) VALUES (\(contact), \(Key.event), 'a1');
                INSERT INTO orders (_id, event, ticket) VALUES (\(contact), \(Key.event), \(contact))
                """)
            // While the event exists, an object can't leave it and keep its links.
            await #expect(throws: PostgresError.self) { try await pool.execute("UPDATE session SET event = NULL") }
            try await pool.execute("DELETE FROM event WHERE _id = \(Key.event)")
            for table in ["session", "speaker_contact", "orders"] {
                let left = try await pool.query("SELECT count(*)::int FROM \(table) WHERE event IS NULL")
                #expect(try left[0, 0].int == 1, "\(table)")
            }
        }
    }
}
