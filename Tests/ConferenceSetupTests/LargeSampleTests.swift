import ConferenceSetup
import PostgresClient
import TestSupport
import Testing
import TomboloAuthentication
import TomboloModel

@Suite struct LargeSampleTests {
    private let hasher = PasswordHasher(parameters: .weakForTests)

    private func counts(_ event: ObjectId, _ pool: PostgresPool) async throws -> [String: Int] {
        let queries = [
            "sessions": "SELECT count(*) FROM session WHERE event = $1 AND trashed_at IS NULL",
            "users":
                "SELECT count(*) FROM users WHERE email LIKE 'attendee-_____@%' AND trashed_at IS NULL AND $1::bytea IS NOT NULL",
            "alone": """
            SELECT count(*) FROM (SELECT trash_group FROM users WHERE trashed_at IS NOT NULL UNION ALL
                SELECT trash_group FROM session WHERE trashed_at IS NOT NULL AND event = $1) t
            """,
            "with the event": """
            SELECT count(*) FROM session s JOIN event e ON e._id = s.event
            WHERE s.trash_group = e.trash_group AND e._id <> $1
            """,
            "orders": "SELECT count(*) FROM orders WHERE event = $1 AND trashed_at IS NULL",
            "kept": """
            SELECT count(*) FROM users u WHERE u.trashed_at IS NOT NULL AND $1::bytea IS NOT NULL
                AND tombolo.kept_in_trash('User', encode(u._id, 'hex'), now()) LIKE 'has an order for %'
            """,
            "due tomorrow": """
            SELECT count(*) FROM users WHERE trashed_at < now() - interval '29 days' AND $1::bytea IS NOT NULL
            """,
        ]
        var found: [String: Int] = [:]
        for (name, sql) in queries {
            found[name] = try await pool.query(sql, [.bytea(event.bytes)])[0, 0].int
        }
        return found
    }

    @Test func itHasTheDocumentedNumbersAndTrashThatIsSoonPurged() async throws {
        try await Databases.withConference { pool in
            let report = try await SampleData.loadLarge(pool, hasher: hasher)
            #expect(report.isNew)
            let found = try await counts(report.eventID, pool)
            #expect(
                found == [
                    "sessions": 200, "users": 5_000, "alone": 72, "with the event": 6, "due tomorrow": 2,
                    "orders": 280, "kept": 1,
                ])
        }
    }

    @Test func loadingItAgainTrashesNothingAgain() async throws {
        try await Databases.withConference { pool in
            let first = try await SampleData.loadLarge(pool, hasher: hasher)
            try await pool.execute(
                "UPDATE session SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL WHERE event = decode('\(first.eventID)', 'hex')"
            )
            let again = try await SampleData.loadLarge(pool, hasher: hasher)
            #expect(!again.isNew)
            #expect(try await counts(first.eventID, pool)["alone"] == 60)
        }
    }

    @Test func itsPeopleHaveTheirRoles() async throws {
        try await Databases.withConference { pool in
            let report = try await SampleData.loadLarge(pool, hasher: hasher)
            let accounts = AccountRegistry(pool: pool, hasher: hasher)
            for (email, role, event) in [
                ("super@example.org", "superAdmin", nil), ("admin@example.org", "admin", nil),
                ("owner@example.org", "owner", report.eventID), ("organizer@example.org", "organizer", report.eventID),
            ] as [(String, String, ObjectId?)] {
                let user = try await accounts.user(email: email)
                #expect(try await RoleAssignments.has(role, user, event: event, pool), "\(email)")
            }
        }
    }
}
