import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloPostgresStore

@testable import ConferenceSetup

@Suite struct EventOwnersTests {
    @Test("nobody becomes the creator of somebody else's event, and a creator may be forgotten")
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

    @Test("a database from before gets the rule")
    func upgrade() async throws {
        try await Databases.withConference { pool in
            try await pool.execute("DROP TRIGGER tombolo_creator_stays ON event")
            let steps = try await pool.withConnection { try await Conference.migrator($0).apply().map(\.name) }
            #expect(steps == ["creators of events"])
        }
    }
}
