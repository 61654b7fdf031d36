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
}
