import PostgresClient
import TestSupport
import Testing
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
}
