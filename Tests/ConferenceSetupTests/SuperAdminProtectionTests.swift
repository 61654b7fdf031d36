import ConferenceSetup
import PostgresClient
import TestSupport
import Testing
import TomboloAuthentication
import TomboloMigration
import TomboloModel
import TomboloPostgresStore

@Suite struct SuperAdminProtectionTests {
    @Test("a user's row says whether they are a super administrator, whatever writes the assignments")
    func superAdministratorsAreMarked() async throws {
        try await Databases.withConference { pool in
            let accounts = AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests))
            let user = try await accounts.register(
                email: "ann@example.org", password: "correct horse", displayName: "Ann")
            func isMarked() async throws -> Bool {
                try await pool.query("SELECT is_super_admin FROM users WHERE email = 'ann@example.org'")[0, 0].bool
            }
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
            // Registers another user, so that somebody remains.
            try await accounts.register(email: "bea@example.org", password: "correct horse", displayName: "Bea")
            try await pool.execute(
                #"UPDATE role_assignment SET "user" = (SELECT _id FROM users WHERE email = 'bea@example.org')"#)
            #expect(try await !isMarked())
        }
    }

    @Test(
        "a service's database role can write an event's roles, but can't make administrators or touch others' accounts")
    func aServicesRoleMakesNoAdministrators() async throws {
        let cluster = try await TestCluster.start()
        let configuration = try await cluster.createDatabase()
        let owner = try await PostgresConnection.connect(configuration)
        try await owner.execute("CREATE ROLE tombolo_app LOGIN")
        try await Conference.migrator(owner).apply()
        // Rights granted by an older version are revoked.
        try await owner.execute("GRANT UPDATE ON users TO tombolo_app")
        #expect(try await Conference.migrator(owner).apply().map(\.name) == ["rights of tombolo_app"])
        let (ann, boss) = ("'\\x0000000000000000000000a1'::bytea", "'\\x0000000000000000000000b1'::bytea")
        let (event, role, top) = (
            "'\\x0000000000000000000000e1'::bytea", "'\\x0000000000000000000000c1'::bytea",
            "'\\x0000000000000000000000c2'::bytea"
        )
        try await owner.execute(
            """
            INSERT INTO users (_id, email, display_name) VALUES (\(ann), 'ann@x.org', 'A'), (\(boss), 'boss@x.org', 'B');
            INSERT INTO event (_id, name) VALUES (\(event), 'E');
            INSERT INTO role_assignment (_id, "user", role) VALUES (\(top), \(boss), 'superAdmin')
            """)
        var other = configuration
        other.user = "tombolo_app"
        let service = try await PostgresConnection.connect(other)
        // Permitted statements.
        for sql in [
            "INSERT INTO role_assignment (_id, \"user\", role, event) VALUES (\(role), \(ann), 'organizer', \(event))",
            "UPDATE role_assignment SET role = 'moderator' WHERE _id = \(role)",
            "UPDATE users SET display_name = 'Ann' WHERE _id = \(ann)",
            "INSERT INTO users (_id, email, display_name) VALUES ('\\x0000000000000000000000d1', 'd@x.org', 'D')",
            "DELETE FROM users WHERE email = 'd@x.org'",
        ] {
            #expect(try await service.query(sql).affectedRows == 1, "\(sql)")
        }
        let seen = try await service.query("SELECT role FROM role_assignment ORDER BY role")
        #expect(try seen.map { try $0[0].string } == ["moderator", "superAdmin"])
        _ = try await service.query("SELECT user_id, generation FROM tombolo.token_generation")
        // Forbidden ones: refused, or without effect on rows that it can't write.
        for sql in [
            "INSERT INTO role_assignment (_id, \"user\", role) VALUES ('\\x0000000000000000000000c3', \(ann), 'superAdmin')",
            "INSERT INTO role_assignment (_id, \"user\", role) VALUES ('\\x0000000000000000000000c3', \(ann), 'admin')",
            "UPDATE role_assignment SET role = 'admin', event = NULL WHERE _id = \(role)",
            "UPDATE role_assignment SET role = 'superAdmin' WHERE _id = \(role)",
            "UPDATE role_assignment SET \"user\" = \(ann) WHERE _id = \(top)",
            "DELETE FROM role_assignment WHERE _id = \(top)",
            """
            INSERT INTO role_assignment (_id, "user", role) VALUES (\(role), \(ann), 'admin')
            ON CONFLICT (_id) DO UPDATE SET role = excluded.role
            """,
            "UPDATE users SET email = 'boss@x.org' WHERE _id = \(ann)",
            "UPDATE users SET _id = '\\x0000000000000000000000d2' WHERE _id = \(ann)",
            "UPDATE users SET is_super_admin = true WHERE _id = \(ann)",
            "UPDATE users SET display_name = 'Mallory' WHERE _id = \(boss)", "DELETE FROM users WHERE _id = \(boss)",
        ] {
            do {
                #expect(try await service.query(sql).affectedRows == 0, "\(sql)")
            } catch let error as PostgresError {
                #expect(error.code == .insufficientPrivilege, "\(sql): \(error)")
            }
        }
        let left = try await owner.query(
            """
            SELECT (SELECT count(*) FROM role_assignment WHERE role IN ('admin', 'superAdmin') AND "user" = \(ann)),
                (SELECT count(*) FROM users WHERE is_super_admin AND display_name = 'B')
            """)
        #expect(try left[0, 0].int == 0 && left[0, 1].int == 1)
        await service.close()
        await owner.close()
        await cluster.remove()
    }

    @Test("an older database with unprotected super administrators is brought up to date")
    func anOlderDatabaseIsProtected() async throws {
        try await Databases.withConference { pool in
            try await pool.execute(
                """
                DROP FUNCTION tombolo.keep_super_admin CASCADE; DROP FUNCTION tombolo.mark_super_admin CASCADE;
                ALTER TABLE users DROP COLUMN is_super_admin CASCADE;
                ALTER TABLE role_assignment DISABLE ROW LEVEL SECURITY;
                INSERT INTO users (_id, email, display_name) VALUES ('\\x0000000000000000000000b1', 'boss@x.org', 'B');
                INSERT INTO role_assignment (_id, "user", role)
                VALUES ('\\x0000000000000000000000c2', '\\x0000000000000000000000b1', 'superAdmin')
                """)
            let names = try await pool.withConnection { try await Conference.migrator($0).apply().map(\.name) }
            #expect(names.contains("protection of super administrators"), "\(names)")
            let marked = try await pool.query("SELECT count(*) FROM users WHERE is_super_admin")
            #expect(try marked[0, 0].int == 1)
        }
    }
}
