import ConferenceSetup
import Foundation
import PostgresClient
import Testing
import TomboloAuthentication
import TomboloMigration
import TomboloModel
import TomboloPostgresStore

@Suite struct UserAccountsTests {
    private let hasher = PasswordHasher(parameters: .weakForTests)
    private let ann = "'\\x0000000000000000000000a1'::bytea"

    /// Users joined with accounts by id: `id email name, id email name, disabled or trashed`, one line for each id.
    private func state(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query(
            """
            SELECT coalesce(right(encode(u._id, 'hex'), 2), '-') || ' ' || coalesce(u.email, '-') || ' '
                || coalesce(u.display_name, '-') || CASE WHEN u.trashed_at IS NULL THEN '' ELSE ' trashed' END || ' | '
                || coalesce(right(encode(a.id, 'hex'), 2), '-') || ' ' || coalesce(a.email, '-') || ' '
                || coalesce(a.display_name, '-') || CASE WHEN a.disabled_at IS NULL THEN '' ELSE ' disabled' END
            FROM users u FULL JOIN tombolo.account a ON a.id = u._id ORDER BY coalesce(u._id, a.id)
            """
        ).map { try $0[0].string }
    }

    @Test("changes to a user also apply to the account with the same id, and the other way round")
    func usersAndAccountsAreInStep() async throws {
        try await Databases.withConference { pool in
            for (sql, expected) in [
                (
                    "INSERT INTO users (_id, email, display_name) VALUES (\(ann), 'ann@x.org', 'Ann')",
                    ["a1 ann@x.org Ann | a1 ann@x.org Ann"]
                ),
                ("UPDATE users SET display_name = 'A'", ["a1 ann@x.org A | a1 ann@x.org A"]),
                ("UPDATE users SET email = 'a@x.org'", ["a1 a@x.org A | a1 a@x.org A"]),
                ("UPDATE users SET email = ' B@X.org '", ["a1 b@x.org A | a1 b@x.org A"]),
                ("UPDATE users SET email = 'A@x.org', trashed_at = now()", ["a1 A@x.org A trashed | a1 - A disabled"]),
                ("UPDATE users SET trashed_at = NULL", ["a1 a@x.org A | a1 a@x.org A"]),
                ("UPDATE users SET details = 'None.'", ["a1 a@x.org A | a1 a@x.org A"]),
                ("UPDATE users SET trashed_at = now()", ["a1 a@x.org A trashed | a1 - A disabled"]),
                ("UPDATE users SET trashed_at = NULL", ["a1 a@x.org A | a1 a@x.org A"]),
                ("UPDATE tombolo.account SET display_name = 'Ann'", ["a1 a@x.org Ann | a1 a@x.org Ann"]),
                ("UPDATE tombolo.account SET email = 'ann@x.org'", ["a1 ann@x.org Ann | a1 ann@x.org Ann"]),
                ("UPDATE tombolo.account SET email = NULL", ["a1 ann@x.org Ann | a1 - Ann"]),
                ("UPDATE users SET _id = '\\x0000000000000000000000a2'", ["a2 ann@x.org Ann | a2 - Ann"]),
                ("UPDATE tombolo.account SET id = \(ann)", ["a1 ann@x.org Ann | a1 - Ann"]),
                ("DELETE FROM users", []),
                (
                    "INSERT INTO tombolo.account (id, email, display_name) VALUES (\(ann), 'ann@x.org', 'Ann')",
                    ["a1 ann@x.org Ann | a1 ann@x.org Ann"]
                ),
                ("DELETE FROM tombolo.account", []),
                (
                    "INSERT INTO tombolo.account (id) VALUES (\(ann))",
                    ["a1 0000000000000000000000a1@account.invalid  | a1 - "]
                ),
            ] {
                try await pool.execute(sql)
                #expect(try await state(pool) == expected, "\(sql)")
            }
        }
    }

    @Test("an account disabled before its user was trashed stays disabled afterwards")
    func theTrashDoesNotEnable() async throws {
        try await Databases.withConference { pool in
            try await pool.execute("INSERT INTO users (_id, email, display_name) VALUES (\(ann), 'ann@x.org', 'Ann')")
            try await AccountRegistry(pool: pool, hasher: hasher).setEnabled(false, email: "ann@x.org")
            #expect(try await state(pool) == ["a1 ann@x.org Ann | a1 ann@x.org Ann disabled"])
            try await pool.execute("UPDATE users SET trashed_at = now()")
            try await pool.execute("UPDATE users SET trashed_at = NULL")
            #expect(try await state(pool) == ["a1 ann@x.org Ann | a1 ann@x.org Ann disabled"])
        }
    }

    @Test("the token of a trashed or deleted user is unknown, and the address is free for somebody else")
    func aUserInTheTrashCannotLogIn() async throws {
        try await Databases.withConference { pool in
            let authenticator = await Authenticator(
                pool: pool, tokens: try TokenConfiguration(secret: String(repeating: "k", count: 40)), hasher: hasher)
            for (email, sql) in [
                ("ann@example.org", "UPDATE users SET trashed_at = now() WHERE email = 'ann@example.org'"),
                ("bob@example.org", "DELETE FROM users WHERE email = 'bob@example.org'"),
            ] {
                try await authenticator.register(email: email, password: "correct horse", displayName: "A")
                let token = try await authenticator.login(email: email, password: "correct horse").token
                _ = try await authenticator.verify(token)
                try await pool.execute(sql)
                authenticator.forgetRoles()
                await #expect(throws: AuthenticationError.unknownUser) { try await authenticator.verify(token) }
                await #expect(throws: AuthenticationError.wrongCredentials) {
                    try await authenticator.login(email: email, password: "correct horse")
                }
                try await authenticator.register(email: email, password: "another horse", displayName: "B")
                _ = try await authenticator.login(email: email, password: "another horse")
            }
        }
    }

    @Test("an older database without accounts keeps its passwords and tokens")
    func anOlderDatabaseIsTurnedOver() async throws {
        try await Databases.withConference { pool in
            let tokens = try TokenConfiguration(secret: String(repeating: "k", count: 40))
            let authenticator = await Authenticator(pool: pool, tokens: tokens, hasher: hasher)
            for email in ["ann@example.org", "bob@example.org"] {
                try await authenticator.register(email: email, password: "correct horse", displayName: "A")
            }
            let token = try await authenticator.login(email: "ann@example.org", password: "correct horse").token
            // The old state: no accounts, and credentials that belong to users.
            try await pool.execute(
                """
                DROP TABLE tombolo.account CASCADE; DROP FUNCTION tombolo.log_account, tombolo.log_token_generation CASCADE;
                DROP FUNCTION tombolo.keep_account, tombolo.keep_user CASCADE;
                ALTER TABLE tombolo.credential ADD FOREIGN KEY (user_id) REFERENCES users (_id) ON DELETE CASCADE;
                ALTER TABLE tombolo.token_generation ADD FOREIGN KEY (user_id) REFERENCES users (_id) ON DELETE CASCADE;
                UPDATE users SET trashed_at = now() WHERE email = 'bob@example.org';
                INSERT INTO users (_id, email, display_name) VALUES (\(ann), 'bob@example.org', 'Another Bob')
                """)
            let applied = try await pool.withConnection { try await Conference.migrator($0).apply().map(\.name) }
            #expect(applied.filter { !$0.hasPrefix("rights of ") } == ["accounts", "accounts of users"])
            authenticator.forgetRoles()
            _ = try await authenticator.verify(token)
            _ = try await authenticator.login(email: "ann@example.org", password: "correct horse")
            await #expect(throws: AuthenticationError.wrongCredentials) {
                try await authenticator.login(email: "bob@example.org", password: "correct horse")
            }
            try await pool.execute("DELETE FROM users WHERE email = 'ann@example.org'")
            let left = try await pool.query("SELECT email FROM tombolo.account WHERE disabled_at IS NULL")
            #expect(try left.map { try $0[0].string } == ["bob@example.org"])
            #expect(try await pool.query("SELECT count(*) FROM tombolo.credential")[0, 0].int == 1)
        }
    }

    @Test("a user from before accounts can log in, however the address was written")
    func anOlderAddressIsFound() async throws {
        try await Databases.withConference { pool in
            try await pool.execute(
                """
                DROP FUNCTION tombolo.keep_account, tombolo.keep_user CASCADE;
                INSERT INTO users (_id, email, display_name) VALUES (\(ann), 'Ann@X.org', 'Ann')
                """)
            try await pool.withConnection { _ = try await Conference.migrator($0).apply() }
            #expect(try await state(pool) == ["a1 Ann@X.org Ann | a1 ann@x.org Ann"])
        }
    }

    @Test("two accounts can't have the same address, whichever table it is written to")
    func addressesAreUnique() async throws {
        try await Databases.withConference { pool in
            try await pool.execute("INSERT INTO users (_id, email) VALUES (\(ann), 'ann@x.org')")
            for sql in [
                "INSERT INTO users (_id, email) VALUES ('\\x0000000000000000000000b1', 'ann@x.org')",
                "INSERT INTO tombolo.account (id, email) VALUES ('\\x0000000000000000000000b1', 'ann@x.org')",
            ] {
                await #expect {
                    try await pool.execute(sql)
                } throws: { error in
                    (error as? PostgresError)?.code == .uniqueViolation
                }
            }
            #expect(try await state(pool) == ["a1 ann@x.org  | a1 ann@x.org "])
        }
    }
}
