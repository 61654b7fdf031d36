import EventModels
import PostgresClient
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore

@testable import TomboloMigration

@Suite struct MigratorTests {
    private func count(_ sql: String, _ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT count(*) FROM \(sql)")[0, 0].int
    }

    @Test func anEmptyDatabaseIsUpToDateAfterOneRun() async throws {
        try await Databases.withEmpty { connection in
            let migrator = Migrator(connection)
            let plan = try await migrator.plan()
            #expect(plan.problems.isEmpty && plan.steps.count > 30)
            #expect(try await migrator.status().applied.isEmpty)
            let applied = try await migrator.apply()
            #expect(applied == plan.steps)
            let status = try await migrator.status()
            #expect(status.isUpToDate)
            #expect(status.applied.map(\.number) == Array(1...applied.count))
            #expect(status.applied.map(\.name) == applied.map(\.name))
            #expect(status.applied.allSatisfy { $0.isIntact && $0.appliedBy == "postgres" && $0.checksum.count == 64 })
            #expect(try await migrator.apply().isEmpty)
            #expect(try await migrator.status().applied.count == applied.count)
        }
    }

    @Test func planningChangesNothing() async throws {
        try await Databases.withEmpty { connection in
            _ = try await Migrator(connection).plan()
            _ = try await Migrator(connection).status()
            #expect(try await count("pg_namespace WHERE nspname = 'tombolo'", connection) == 0)
            #expect(try await count("pg_tables WHERE schemaname = 'public'", connection) == 0)
        }
    }

    @Test func aFailedRunLeavesTheDatabaseAsItWas() async throws {
        try await Databases.withEmpty { connection in
            // A table that is in the way: no class has a foreign key to a view.
            try await connection.execute("CREATE VIEW event AS SELECT 1 AS _id")
            let error = await #expect(throws: MigrationError.self) { try await Migrator(connection).apply() }
            guard case .stepFailed(let name, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.description.contains(name) == true)
            let schemas = try await count("pg_namespace WHERE nspname = 'tombolo'", connection)
            #expect(schemas == 0)
            // The lock is free again.
            try await connection.execute("DROP VIEW event")
            _ = try await Migrator(connection).apply()
        }
    }

    @Test func aSecondRunIsRefusedWhileOneIsUnderWay() async throws {
        let database = try await TestCluster.shared().createDatabase()
        let first = try await PostgresConnection.connect(database)
        let second = try await PostgresConnection.connect(database)
        try await first.query("SELECT pg_advisory_lock($1)", [.int64(Migrator.lockKey)])
        let error = await #expect(throws: MigrationError.self) { try await Migrator(second).apply() }
        guard case .alreadyRunning(let processID) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(processID == Int(first.processID))
        await first.close()
        let holders = """
            SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        var isFree = false
        for _ in 0..<10_000 where !isFree { isFree = try await second.query(holders)[0, 0].int == 0 }
        _ = try await Migrator(second).apply()
        await second.close()
    }

    @Test func aMissingColumnIsAddedAndRowsStay() async throws {
        try await Databases.withEmpty { connection in
            let migrator = Migrator(connection)
            try await migrator.apply()
            try await connection.execute("ALTER TABLE listing DROP COLUMN bedrooms")
            try await connection.execute(
                "INSERT INTO listing (_id, location, price) VALUES ('\\x000000000000000000000001', 'dallas', 1)")
            let before = try await migrator.status()
            #expect(!before.isUpToDate && before.pending.problems.isEmpty)
            let applied = try await migrator.apply()
            #expect(applied.contains { $0.name == "column listing.bedrooms" })
            let row = try await connection.query("SELECT price, bedrooms FROM listing")
            #expect(try row[0, 0].int == 1 && row[0, 1].int == 0)
            let status = try await migrator.status()
            #expect(status.isUpToDate && status.applied.count == before.applied.count + applied.count)
        }
    }

    @Test func whatWouldLoseDataIsReportedAndLeftAlone() async throws {
        try await Databases.withEmpty { connection in
            let migrator = Migrator(connection)
            try await migrator.apply()
            try await connection.execute("ALTER TABLE listing ALTER COLUMN price TYPE text")
            try await connection.execute("ALTER TABLE listing DROP COLUMN bedrooms")
            let error = await #expect(throws: MigrationError.self) { try await migrator.apply() }
            guard case .notAdditive(let problems) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(problems.count == 1 && problems[0].contains("listing.price"))
            let columns = try await count(
                "information_schema.columns WHERE table_name = 'listing' AND column_name = 'bedrooms'", connection)
            #expect(columns == 0)
        }
    }

    @Test func aChangedRecordShows() async throws {
        try await Databases.withEmpty { connection in
            let migrator = Migrator(connection)
            try await migrator.apply()
            try await connection.execute("UPDATE tombolo.migration SET sql = sql || ' ' WHERE number = 3")
            #expect(try await migrator.status().applied.filter { !$0.isIntact }.map(\.number) == [3])
        }
    }

    @Test func aServicesRoleGetsTheClassTablesAndNothingElse() async throws {
        // In a cluster of its own: the role is one of the whole cluster.
        let cluster = try await TestCluster.start()
        let connection = try await PostgresConnection.connect(try await cluster.createDatabase())
        try await Migrator(connection).apply()
        try await connection.execute("CREATE ROLE tombolo_app")
        let applied = try await Migrator(connection).apply()
        #expect(applied.map(\.name) == ["rights of tombolo_app"])
        #expect(try await Migrator(connection).apply().isEmpty)
        try await connection.execute("SET ROLE tombolo_app")
        try await connection.execute(
            "INSERT INTO listing (_id, location) VALUES ('\\x000000000000000000000001', 'dallas'); "
                + "UPDATE listing SET price = 2; SELECT * FROM session_speakers; DELETE FROM listing")
        for sql in [
            "SELECT * FROM tombolo.credential", "SELECT * FROM tombolo.changelog", "CREATE TABLE x (i int)",
            "TRUNCATE listing", "SELECT tombolo.trash('Session', 'x', 'x', NULL)",
            "UPDATE tombolo.token_generation SET generation = 9",
            "INSERT INTO tombolo.token_generation VALUES ('\\x000000000000000000000001', 1)",
            "INSERT INTO tombolo.changelog (class, key, operation, stamp) VALUES (1, '1', 'e', 0)",
            "UPDATE tombolo.client SET user_id = 'x'", "INSERT INTO tombolo.tick VALUES (1, 1, '1:1:', 'x', 1, 1, 1)",
            "UPDATE tombolo.class SET is_trashable = false", "SELECT tombolo.take_lock('sequencer_lock')",
            "SELECT nextval('tombolo.changelog_seq')", "SELECT setval('tombolo.changelog_seq', 1)",
            "SELECT tombolo.keep_super_admin()", "ALTER TABLE users DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE users DISABLE TRIGGER ALL", "DROP POLICY tombolo_give ON role_assignment",
            "CREATE TRIGGER t AFTER INSERT ON listing EXECUTE FUNCTION now()", "SET session_replication_role = replica",
        ] {
            await #expect {
                try await connection.execute(sql)
            } throws: { error in
                (error as? PostgresError)?.code == .insufficientPrivilege
            }
        }
        await connection.close()
        await cluster.remove()
    }

    @Test("a service's role writes an event's roles but nothing that makes an administrator or another's account")
    func aServicesRoleMakesNoAdministrators() async throws {
        let cluster = try await TestCluster.start()
        let configuration = try await cluster.createDatabase()
        let owner = try await PostgresConnection.connect(configuration)
        try await owner.execute("CREATE ROLE tombolo_app LOGIN")
        try await Migrator(owner).apply()
        // Rights from an older version are taken back.
        try await owner.execute("GRANT UPDATE ON users TO tombolo_app")
        #expect(try await Migrator(owner).apply().map(\.name) == ["rights of tombolo_app"])
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
        // What it may do.
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
        // What it may not: refused, or without effect on what it cannot write.
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

    @Test("a database from before there were token generations and protected accounts is brought up to date")
    func anOlderDatabaseIsProtected() async throws {
        try await Databases.withEmpty { connection in
            let migrator = Migrator(connection)
            try await migrator.apply()
            try await connection.execute(
                """
                DROP TABLE tombolo.token_generation; DROP FUNCTION tombolo.keep_super_admin CASCADE;
                DROP FUNCTION tombolo.mark_super_admin CASCADE; ALTER TABLE users DROP COLUMN is_super_admin CASCADE;
                ALTER TABLE role_assignment DISABLE ROW LEVEL SECURITY; DROP VIEW tombolo.sequencer_lock;
                INSERT INTO users (_id, email, display_name) VALUES ('\\x0000000000000000000000b1', 'boss@x.org', 'B');
                INSERT INTO role_assignment (_id, "user", role)
                VALUES ('\\x0000000000000000000000c2', '\\x0000000000000000000000b1', 'superAdmin')
                """)
            let names = try await migrator.apply().map(\.name)
            #expect(names.contains("authentication") && names.contains("tombolo.sequencer_lock"), "\(names)")
            #expect(try await count("users WHERE is_super_admin", connection) == 1)
            let status = try await migrator.status()
            #expect(status.isUpToDate)
        }
    }

    @Test("giving a role gives it, even where its usual id is taken by another assignment")
    func aTakenIdDoesNotKeepARoleAway() async throws {
        try await Databases.withMigrated { pool in
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
