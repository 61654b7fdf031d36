import PostgresClient
import Testing
import TomboloAuthentication
import TomboloModel

@Suite struct SuperAdminProtectionTests {
    @Test("a user's row says whether they are a super administrator, whatever writes the assignments")
    func superAdministratorsAreMarked() async throws {
        try await Databases.withConference { pool in
            let accounts = AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests))
            let user = try await accounts.register(
                email: "ann@example.org", password: "correct horse", displayName: "Ann")
            func isMarked() async throws -> Bool { try await pool.query("SELECT is_super_admin FROM users")[0, 0].bool }
            func assignment(_ number: UInt32, _ role: String) async throws {
                try await pool.query(
                    #"INSERT INTO role_assignment (_id, "user", role) VALUES ($1, $2, $3)"#,
                    [.bytea(ObjectId(high: 1, low: number).bytes), .bytea(user.bytes), .text(role)])
            }
            try await pool.execute("UPDATE users SET is_super_admin = true")
            #expect(try await !isMarked())
            try await assignment(1, "admin")
            #expect(try await !isMarked())
            try await pool.execute("UPDATE role_assignment SET role = 'superAdmin'")
            #expect(try await isMarked())
            try await assignment(2, "superAdmin")
            try await pool.execute("UPDATE users SET is_super_admin = false")
            #expect(try await isMarked())
            try await pool.query(
                "DELETE FROM role_assignment WHERE _id = $1", [.bytea(ObjectId(high: 1, low: 1).bytes)])
            #expect(try await isMarked())
            try await pool.execute(#"UPDATE role_assignment SET "user" = NULL"#)
            #expect(try await !isMarked())
        }
    }
}
