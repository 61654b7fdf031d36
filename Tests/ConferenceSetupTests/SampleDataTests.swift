import EventModels
import OpenEventImport
import PostgresClient
import TestSupport
import Testing
import TomboloAuthentication
import TomboloModel
import TomboloRules
import TomboloServerModel

@testable import ConferenceSetup

@Suite struct SampleDataTests {
    private let hasher = PasswordHasher(parameters: .weakForTests)

    private func count(_ sql: String, _ pool: PostgresPool) async throws -> Int {
        try await pool.query("SELECT count(*) FROM \(sql)")[0, 0].int
    }

    @Test func theSampleContainsWhatTheGuidesDescribe() async throws {
        try await Databases.withConference { pool in
            _ = try await SampleData.load(Databases.sampleExport(), pool, hasher: hasher)
            let tickets = try await pool.query("SELECT name, is_public FROM ticket ORDER BY rank, _id")
            #expect(try tickets.map { try $0[0].string } == ["Early bird", "Regular", "Student"])
            #expect(try tickets.allSatisfy { try $0[1].bool })
            #expect(try await count("session WHERE is_public", pool) == 12)
            // A user whom the purge keeps until the event is over.
            let buyers = try await pool.query(
                """
                SELECT u.email,
                    tombolo.kept_in_trash('User', encode(u._id, 'hex'), e.starts_at) LIKE 'has an order for %'
                FROM orders o JOIN users u ON u._id = o.buyer JOIN event e ON e._id = o.event WHERE o.state = 'completed'
                """)
            #expect(try buyers.map { try $0[0].string } == ["attendee@example.org"])
            #expect(try buyers[0, 1].bool)
            #expect(try await count("orders o JOIN ticket t ON t._id = o.ticket", pool) == 4)
        }
    }

    @Test func theAccountsCanLogInAndHaveTheirRoles() async throws {
        try await Databases.withConference { pool in
            let report = try await SampleData.load(Databases.sampleExport(), pool, hasher: hasher)
            let tokens = try TokenConfiguration(secret: String(repeating: "k", count: 40))
            let models = try await ServerModels.load(pool)
            let authenticator = await Authenticator(
                pool: pool, tokens: tokens, hasher: hasher, grants: { models.grants })
            var grants: [String: Set<RoleGrant>] = [:]
            for user in SampleUser.all {
                let token = try await authenticator.login(email: user.email, password: user.password)
                grants[user.email] = try await authenticator.verify(token.token).grants
            }
            #expect(
                grants == [
                    "owner@example.org": [RoleGrant(Role("owner"), in: report.event.eventID)],
                    "organizer@example.org": [RoleGrant(Role("organizer"), in: report.event.eventID)],
                    "attendee@example.org": [], "admin@example.org": [RoleGrant(Role("admin"))],
                ])
        }
    }

    @Test func loadingAgainKeepsLaterChanges() async throws {
        try await Databases.withConference { pool in
            let export = try Databases.sampleExport()
            _ = try await SampleData.load(export, pool, hasher: hasher)
            try await pool.execute("UPDATE ticket SET rank = 'a5' WHERE name = 'Early bird'")
            let before = try await pool.query("SELECT count(*) FROM tombolo.changelog")
            let again = try await SampleData.load(export, pool, hasher: hasher)
            let after = try await pool.query("SELECT count(*) FROM tombolo.changelog")
            #expect(try before[0, 0].int == after[0, 0].int)
            #expect(again.event.lines.allSatisfy { $0.inserted == 0 && $0.updated == 0 })
            let first = try await pool.query("SELECT name FROM ticket ORDER BY rank, _id LIMIT 1")
            #expect(try first[0, 0].string == "Regular")
        }
    }

    @Test func anAttendeeReadsTheProgrammeButNeitherDraftsNorAddresses() async throws {
        try await Databases.withConference { pool in
            _ = try await SampleData.load(Databases.sampleExport(), pool, hasher: hasher)
            let read = EventModels.rules.readable(Subject(user: ObjectId(high: 1, low: 1)))
            for (table, expected) in [
                ("session", 10), ("speaker_contact", 0), ("orders", 0), ("users", 0), ("role_assignment", 0),
            ] {
                let index = try #require(EventModels.schema.classes.firstIndex { $0.table == table })
                let item = EventModels.schema[index]
                let result = try await pool.query("SELECT * FROM \"\(table)\"", format: .text)
                let visible = result.filter { row in
                    read(index).evaluate { path in
                        guard let name = path.names.first, let column = item.columnIndex(name) else { return .null }
                        guard let cell = try? row[item.columns[column].sqlName], !cell.isNull else { return .null }
                        let text = (try? cell.text) ?? ""
                        return item.columns[column].type == .bool ? .bool(text == "t") : .string(text)
                    }
                }
                #expect(visible.count == expected, "\(table)")
                #expect(!result.isEmpty)
            }
        }
    }

    @Test func aRoleIsGivenOnlyWhereItMakesSense() async throws {
        try await Databases.withConference { pool in
            let report = try await SampleData.load(Databases.sampleExport(), pool, hasher: hasher)
            let user = try await AccountRegistry(pool: pool, hasher: hasher).user(email: "attendee@example.org")
            for (role, event) in [
                ("orgnizer", report.event.eventID), ("organizer", nil), ("superAdmin", report.event.eventID),
            ] as [(String, ObjectId?)] {
                await #expect(throws: ValueError.self) {
                    try await RoleAssignments.give(role, to: user, event: event, pool)
                }
            }
            let before = try await count("role_assignment", pool)
            for _ in 0..<2 { try await RoleAssignments.give("moderator", to: user, event: report.event.eventID, pool) }
            #expect(try await count("role_assignment", pool) == before + 1)
        }
    }
}
