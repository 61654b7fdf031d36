import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloPostgresStore

@testable import ConferenceSetup

@Suite struct EventOwnersTests {
    @Test("nobody becomes the creator of somebody else's event, and a creator may be removed")
    func creatorStays() async throws {
        try await Databases.withConference { pool in
            let (maker, other) = ("'\\x0000000000000000000000a1'::bytea", "'\\x0000000000000000000000a2'::bytea")
            try await pool.execute(
                """
                INSERT INTO event (_id, name, creator) VALUES
                    ('\\x0000000000000000000000e1', 'Made', \(maker)), ('\\x0000000000000000000000e2', 'Imported', NULL)
                """)
            for name in ["Made", "Imported"] {
                let refused = await #expect(throws: PostgresError.self) {
                    try await pool.execute("UPDATE event SET creator = \(other) WHERE name = '\(name)'")
                }
                #expect(refused?.constraintName == EventOwners.creatorStays && refused?.columnName == "creator")
            }
            try await pool.execute("UPDATE event SET creator = \(maker), name = 'Still made' WHERE name = 'Made'")
            try await pool.execute("UPDATE event SET creator = NULL")
        }
    }

    @Test("an event created without a creator by plain SQL has no owner")
    func nobody() async throws {
        try await Databases.withConference { pool in
            let user = "0000000000000000000000a1"
            try await pool.execute(
                """
                INSERT INTO users (_id, email, display_name) VALUES ('\\x\(user)', 'a@example.org', 'A')
                """)
            try await pool.execute(
                "INSERT INTO event (_id, name) VALUES ('\\x0000000000000000000000e1', 'Imported')")
            let found = try await pool.query(
                "SELECT creator IS NULL, (SELECT count(*) FROM role_assignment) FROM event")
            #expect(try found[0, 0].bool && found[0, 1].int == 0)
        }
    }

    @Test("an older database gets the rules")
    func upgrade() async throws {
        try await Databases.withConference { pool in
            try await pool.execute(
                "DROP TRIGGER tombolo_creator_stays ON event; DROP TRIGGER tombolo_creator ON event")
            let steps = try await pool.withConnection { try await Conference.migrator($0).apply().map(\.name) }
            #expect(steps == ["makers of new events", "creators of events"])
        }
    }
}
