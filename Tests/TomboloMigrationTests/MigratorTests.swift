import PostgresClient
import TestSupport
import Testing
import TomboloAuthentication
import TomboloModel
import TomboloPostgresStore

@testable import TomboloMigration

@Suite struct MigratorTests {
    private func migrator(_ connection: PostgresConnection) throws -> Migrator {
        Migrator(connection, schema: try Schema.of([Listing.self, Viewing.self]))
    }

    private func count(_ sql: String, _ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT count(*) FROM \(sql)")[0, 0].int
    }

    @Test func anEmptyDatabaseIsUpToDateAfterOneRun() async throws {
        try await Databases.withEmpty { connection in
            let migrator = try migrator(connection)
            let plan = try await migrator.plan()
            #expect(plan.problems.isEmpty && plan.steps.count > 20)
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
            _ = try await migrator(connection).plan()
            _ = try await migrator(connection).status()
            #expect(try await count("pg_namespace WHERE nspname = 'tombolo'", connection) == 0)
            #expect(try await count("pg_tables WHERE schemaname = 'public'", connection) == 0)
        }
    }

    @Test func aFailedRunLeavesTheDatabaseAsItWas() async throws {
        try await Databases.withEmpty { connection in
            // A type with this name prevents creating the table.
            try await connection.execute("CREATE DOMAIN viewing AS bigint")
            let error = await #expect(throws: MigrationError.self) { try await migrator(connection).apply() }
            guard case .stepFailed(let name, _, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.description.contains(name) == true)
            let schemas = try await count("pg_namespace WHERE nspname = 'tombolo'", connection)
            #expect(schemas == 0)
            // The lock has been released.
            try await connection.execute("DROP DOMAIN viewing")
            _ = try await migrator(connection).apply()
        }
    }

    @Test(.timeLimit(.minutes(15))) func aSecondRunIsRefusedWhileOneIsUnderWay() async throws {
        let database = try await TestCluster.shared().createDatabase()
        let first = try await PostgresConnection.connect(database)
        let second = try await PostgresConnection.connect(database)
        try await first.query("SELECT pg_advisory_lock($1)", [.int64(Migrator.lockKey)])
        let error = await #expect(throws: MigrationError.self) { try await migrator(second).apply() }
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
        while try await second.query(holders)[0, 0].int > 0 { try await Task.sleep(for: .milliseconds(5)) }
        _ = try await migrator(second).apply()
        await second.close()
    }

    @Test("the plan reports a table whose name is taken by an index or a view")
    func takenNames() async throws {
        try await Databases.withEmpty { connection in
            try await connection.execute("CREATE VIEW listing AS SELECT 1 AS _id")
            let key = ModelProperty(name: "_id", type: .uuid, isPrimaryKey: true)
            let document = try ModelDocument(
                app: "notes",
                classes: [("Note", "note"), ("NotePkey", "note_pkey"), ("Listing", "listing")].map {
                    ModelClass(name: $0.0, table: $0.1, properties: [key])
                })
            let problems = try await Migrator(connection, schema: try document.schema()).plan().problems
            #expect(problems.count == 2, "\(problems)")
            #expect(
                problems.contains { $0.contains("an index of the table note already has that name") }, "\(problems)")
            #expect(problems.contains { $0.contains("a view already has that name") }, "\(problems)")
        }
    }

    @Test func aMissingColumnIsAddedAndRowsStay() async throws {
        try await Databases.withEmpty { connection in
            let migrator = try migrator(connection)
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

    @Test func changesThatWouldLoseDataAreReportedAndNotMade() async throws {
        try await Databases.withEmpty { connection in
            let migrator = try migrator(connection)
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

    @Test func aChangedMigrationRecordIsReported() async throws {
        try await Databases.withEmpty { connection in
            let migrator = try migrator(connection)
            try await migrator.apply()
            try await connection.execute("UPDATE tombolo.migration SET sql = sql || ' ' WHERE number = 3")
            #expect(try await migrator.status().applied.filter { !$0.isIntact }.map(\.number) == [3])
        }
    }

    @Test func aServicesRoleGetsTheClassTablesAndNothingElse() async throws {
        // A separate cluster, since roles belong to the whole cluster.
        let cluster = try await TestCluster.start()
        let connection = try await PostgresConnection.connect(try await cluster.createDatabase())
        let applied = try await migrator(connection).apply()
        #expect(applied.map(\.name).contains("rights of tombolo_app"))
        #expect(try await migrator(connection).apply().isEmpty)
        try await connection.execute("SET ROLE tombolo_app")
        try await connection.execute(
            "INSERT INTO listing (_id, location) VALUES ('\\x000000000000000000000001', 'dallas'); "
                + "UPDATE listing SET price = 2; SELECT * FROM viewing_remarks; DELETE FROM listing")
        for sql in [
            "SELECT * FROM tombolo.credential", "SELECT * FROM tombolo.changelog", "CREATE TABLE x (i int)",
            "TRUNCATE listing", "SELECT tombolo.trash('Viewing', 'x', 'x', NULL)",
            "UPDATE tombolo.token_generation SET generation = 9",
            "INSERT INTO tombolo.token_generation VALUES ('\\x000000000000000000000001', 1)",
            "INSERT INTO tombolo.changelog (class, key, operation, stamp) VALUES (1, '1', 'e', 0)",
            "UPDATE tombolo.client SET user_id = 'x'", "INSERT INTO tombolo.tick VALUES (1, 1, '1:1:', 'x', 1, 1, 1)",
            "UPDATE tombolo.class SET is_trashable = false", "SELECT tombolo.take_lock('sequencer_lock')",
            "SELECT nextval('tombolo.changelog_seq')", "SELECT setval('tombolo.changelog_seq', 1)",
            "SELECT tombolo.log_account()", "ALTER TABLE viewing DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE listing DISABLE TRIGGER ALL", "DROP POLICY tombolo_live ON viewing",
            "INSERT INTO tombolo.account (id) VALUES ('\\x000000000000000000000001')",
            "UPDATE tombolo.account SET custom_data = '{\"admin\": true}'", "DELETE FROM tombolo.account",
            "CREATE TRIGGER t AFTER INSERT ON listing EXECUTE FUNCTION now()", "SET session_replication_role = replica",
        ] {
            await #expect {
                try await connection.execute(sql)
            } throws: { error in
                (error as? PostgresError)?.code == .insufficientPrivilege
            }
        }
        // This covers every account table, including ones added later without being named here: those needed to check
        // tokens can be read, and nothing else is allowed.
        for table in AuthenticationSchema.tables.map({ "tombolo.\($0)" }).sorted() {
            let isReadable = AuthenticationSchema.tokenTables.contains(table)
            let tries = [
                ("SELECT * FROM \(table)", isReadable), ("SELECT count(*) FROM \(table)", isReadable),
                ("DELETE FROM \(table)", false), ("TRUNCATE \(table) CASCADE", false),
                ("INSERT INTO \(table) SELECT * FROM \(table)", false),
                ("DROP TABLE \(table) CASCADE", false),
            ]
            for (sql, isAllowed) in tries {
                var code: PostgresSQLState?
                do {
                    try await connection.execute(sql)
                } catch {
                    code = (error as? PostgresError)?.code
                }
                #expect(code == (isAllowed ? nil : .insufficientPrivilege), "\(sql)")
            }
        }
        await connection.close()
        await cluster.remove()
    }

    @Test("a database without token generations and lock views is brought up to date")
    func anOlderDatabaseIsCompleted() async throws {
        try await Databases.withEmpty { connection in
            let migrator = try migrator(connection)
            try await migrator.apply()
            try await connection.execute(
                "DROP TABLE tombolo.token_generation; DROP VIEW tombolo.sequencer_lock; DROP FUNCTION tombolo.log_account CASCADE"
            )
            let names = try await migrator.apply().map(\.name)
            #expect(names.contains("tombolo.sequencer_lock") && names.contains("accounts"), "\(names)")
            let status = try await migrator.status()
            #expect(status.isUpToDate)
        }
    }

    @Test("an extension's steps run after the tables, are recorded, and must leave nothing to do")
    func extensionsAreApplied() async throws {
        let function = "CREATE FUNCTION tombolo.extra() RETURNS int LANGUAGE sql AS 'SELECT 1'"
        try await Databases.withEmpty { connection in
            let schema = try Schema.of([Listing.self])
            let migrator = Migrator(connection, schema: schema, extensions: [Extra(makes: function)])
            let names = try await migrator.apply().map(\.name)
            let accounts = try #require(names.firstIndex(of: "accounts"))
            let extra = try #require(names.firstIndex(of: "extra"))
            #expect(accounts < extra)
            #expect(try await migrator.apply().isEmpty)
            let idle = Migrator(connection, schema: schema, extensions: [Extra(makes: "SELECT 1")])
            try await connection.execute("DROP FUNCTION tombolo.extra")
            let error = await #expect(throws: MigrationError.self) { try await idle.apply() }
            #expect(error?.description.contains("these would run again: extra") == true)
        }
    }

    @Test("rights that an extension restricts for the services' role stay restricted when a migration runs without it")
    func limitedRightsStay() async throws {
        let cluster = try await TestCluster.start()
        let connection = try await PostgresConnection.connect(try await cluster.createDatabase())
        try await connection.execute("CREATE ROLE tombolo_app")
        let schema = try Schema.of([Listing.self, Viewing.self])
        let limiting = Migrator(connection, schema: schema, extensions: [Fixed()])
        try await limiting.apply()
        func mayWrite(_ column: String) async throws -> Bool {
            let result = try await connection.query(
                "SELECT has_column_privilege('tombolo_app', 'listing', $1, 'UPDATE')", [.text(column)])
            return try result[0, 0].bool
        }
        #expect(try await mayWrite("location"))
        #expect(try await !mayWrite("price"))
        #expect(try await Migrator(connection, schema: schema).apply().isEmpty)
        // Granting a missing right doesn't grant the restricted ones.
        try await connection.execute("REVOKE DELETE ON listing FROM tombolo_app")
        #expect(try await Migrator(connection, schema: schema).apply().map(\.name) == ["rights of tombolo_app"])
        #expect(try await !mayWrite("price"))
        #expect(try await limiting.apply().isEmpty)
        try await connection.execute("GRANT UPDATE ON listing TO tombolo_app")
        #expect(try await limiting.apply().map(\.name) == ["rights of tombolo_app"])
        #expect(try await !mayWrite("price"))
        await connection.close()
        await cluster.remove()
    }
}

/// Runs its SQL until a function `extra` exists.
private struct Extra: SchemaExtension {
    let makes: String

    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        live.functions["extra"] == nil
            ? [SchemaStep(name: "extra", sql: "COMMENT ON TABLE listing IS 'ours'; \(makes)")] : []
    }
}

/// Only the owner changes prices.
private struct Fixed: SchemaExtension {
    let fixedProperties: [String: Set<String>] = ["Listing": ["price"]]
    func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] { [] }
}
