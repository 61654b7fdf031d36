import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloPostgresStore

@testable import ConferenceSetup

@Suite struct SensibleValuesTests {
    private func prepare(_ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            INSERT INTO event (_id, name, starts_at, ends_at) VALUES ('\\x0000000000000000000000e1', 'E', '2031-05-01', '2031-05-02');
            INSERT INTO session (_id, title, starts_at) VALUES ('\\x0000000000000000000000b1', 'S', '2031-05-01');
            INSERT INTO ticket (_id, name, min_order, max_order, sales_ends_at) VALUES
                ('\\x0000000000000000000000d1', 'T', 1, 10, '2031-05-01')
            """)
    }

    @Test(
        "contradictory or impossible values are refused in words, at the written property",
        arguments: [
            ("event", "ends_at = '2031-04-30'", "ends_at", "The event ends before it starts."),
            ("event", "starts_at = '2031-05-03'", "starts_at", "The event ends before it starts."),
            (
                "event", "starts_at = '2031-06-02', ends_at = '2031-06-01'", "ends_at",
                "The event ends before it starts."
            ),
            ("session", "ends_at = '2031-04-30'", "ends_at", "The session ends before it starts."),
            ("ticket", "sales_starts_at = '2031-05-02'", "sales_starts_at", "The sale ends before it starts."),
            ("ticket", "price = -1", "price", "The price is negative."),
            ("ticket", "quantity = -1", "quantity", "The quantity is negative."),
            ("ticket", "min_order = -1", "min_order", "The smallest order is negative."),
            ("ticket", "max_order = -1", "max_order", "The largest order is negative."),
            ("ticket", "min_order = 11", "min_order", "The smallest order is larger than the largest."),
            ("ticket", "max_order = 0", "max_order", "The smallest order is larger than the largest."),
        ])
    func refused(table: String, change: String, column: String, sentence: String) async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            let error = await #expect(throws: PostgresError.self) {
                try await pool.execute("UPDATE \(table) SET \(change)")
            }
            #expect(error?.isRefusal == true && error?.constraintName == SensibleValues.constraint)
            #expect(error?.raisedSentence == sentence && error?.columnName == column && error?.hint != nil)
        }
    }

    @Test("a new row is checked too, and equal or missing values contradict nothing")
    func new() async throws {
        try await Databases.withConference { pool in
            let refused = await #expect(throws: PostgresError.self) {
                try await pool.execute(
                    "INSERT INTO ticket (_id, name, price) VALUES ('\\x00000000000000000000000a', 'T', -1)")
            }
            #expect(refused?.columnName == "price")
            try await prepare(pool)
            try await pool.execute(
                """
                UPDATE event SET ends_at = starts_at;
                UPDATE session SET starts_at = NULL, ends_at = '2031-04-30';
                UPDATE ticket SET sales_ends_at = NULL, sales_starts_at = '2031-05-02', min_order = 0, max_order = 0, price = 0
                """)
        }
    }

    @Test("older rows stay, and can be changed in other ways or corrected")
    func upgrade() async throws {
        try await Databases.withConference { pool in
            try await prepare(pool)
            try await pool.execute(
                """
                DROP TRIGGER \(SensibleValues.trigger) ON event;
                UPDATE event SET starts_at = '2031-05-03'
                """)
            let steps = try await pool.withConnection { connection in
                [
                    try await Conference.migrator(connection).apply().map(\.name),
                    try await Conference.migrator(connection).apply().map(\.name),
                ]
            }
            #expect(steps == [["sensible values"], []])
            // A writer that writes all columns includes these, unchanged.
            try await pool.execute("UPDATE event SET name = 'New', starts_at = starts_at, ends_at = ends_at")
            await #expect(throws: PostgresError.self) {
                try await pool.execute("UPDATE event SET ends_at = '2031-05-01'")
            }
            try await pool.execute("UPDATE event SET ends_at = '2031-05-04'")
        }
    }
}
