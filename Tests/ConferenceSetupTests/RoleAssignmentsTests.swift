import EventModels
import PostgresClient
import Testing
import TomboloModel

@testable import ConferenceSetup

@Suite struct RoleAssignmentsTests {
    @Test("a role can be given even if its usual id is taken by another assignment")
    func aTakenIdDoesNotKeepARoleAway() async throws {
        try await Databases.withConference { pool in
            let user = ObjectId(high: 1, low: 1)
            try await pool.query(
                "INSERT INTO users (_id, email, display_name) VALUES ($1, 'ann@x.org', 'A')", [.bytea(user.bytes)])
            let usual = RoleAssignments.row(user: user, role: .admin, event: nil)
            guard case .objectId(let id) = usual[0] else {
                Issue.record("the first property is not the key")
                return
            }
            try await pool.query(
                "INSERT INTO role_assignment (_id, role) VALUES ($1, 'moderator')", [.bytea(id.bytes)])
            for _ in 0..<2 { try await RoleAssignments.give("admin", to: user, event: nil, pool) }
            #expect(try await RoleAssignments.has("admin", user, event: nil, pool))
            #expect(try await pool.query("SELECT 1 FROM role_assignment WHERE role = 'admin'").count == 1)
        }
    }
}
