import ChildPrograms
import Foundation
import Logging
import PostgresClient
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore

@testable import TomboloMigration

/// How a migration creates the servers' roles and maintains their rights as classes come and go. The conference's
/// `DatabaseRoleTests` checks what the roles may do.
@Suite struct RoleMigrationTests {
    /// Uses a separate cluster, since roles belong to the whole cluster.
    private func withCluster(
        owner attributes: String = "",
        _ body: (_ superuser: PostgresConnection, _ owner: PostgresConnection) async throws -> Void
    ) async throws {
        let cluster = try await TestCluster.start()
        let superuser = try await PostgresConnection.connect(cluster.configuration)
        try await superuser.execute("CREATE ROLE keeper LOGIN \(attributes)")
        try await superuser.execute("CREATE DATABASE held OWNER keeper")
        var configuration = cluster.configuration.database("held")
        configuration.user = "keeper"
        let owner = try await PostgresConnection.connect(configuration)
        try await body(superuser, owner)
        await owner.close()
        await superuser.close()
        await cluster.remove()
    }

    private func connect(_ user: String, like other: PostgresConnection) async throws -> PostgresConnection {
        var configuration = other.configuration
        configuration.user = user
        return try await PostgresConnection.connect(configuration)
    }

    private func migrator(_ connection: PostgresConnection, _ classes: [Object.Type]) throws -> Migrator {
        Migrator(connection, schema: try Schema.of(classes))
    }

    private func may(_ role: String, _ privilege: String, _ table: String, _ connection: PostgresConnection)
        async throws -> Bool
    {
        try await connection.query(
            "SELECT coalesce(has_table_privilege($1, to_regclass($2), $3), false)",
            [.text(role), .text(table), .text(privilege)])[0, 0].bool
    }

    /// ``Listing`` and its price under other names.
    private static func estates() throws -> Schema {
        try ModelDocument(
            app: "homes",
            classes: [
                ModelClass(
                    name: "Estate", table: "estate",
                    properties: [
                        ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true),
                        ModelProperty(name: "location", type: .string, isIndexed: true),
                        ModelProperty(name: "cost", type: .int(bits: 64), previousNames: ["price"]),
                        ModelProperty(name: "bedrooms", type: .int(bits: 64)),
                    ], previousNames: ["Listing"])
            ]
        ).schema()
    }

    @Test("if the migrating user may not create roles, everything else is done, and the advice says what to run")
    func withoutCreateRole() async throws {
        try await withCluster { superuser, owner in
            let migrator = try migrator(owner, [Listing.self, Viewing.self])
            let plan = try await migrator.applying()
            let advice = try #require(plan.advice.first)
            #expect(advice.contains("'keeper' may not create roles (it lacks CREATEROLE)"), "\(advice)")
            let commands = advice.split(separator: "\n").filter { $0.contains("CREATE ROLE") }
            #expect(commands.count == 3)
            #expect(try await may("keeper", "SELECT", "listing", owner))
            // This user has nothing left to do, but the advice stays.
            let again = try await migrator.plan()
            #expect(again.isEmpty && again.advice.count == 1)
            // The advised commands work.
            for command in commands { try await superuser.execute(String(command)) }
            let rights = try await migrator.applying()
            #expect(rights.advice.isEmpty)
            #expect(
                rights.steps.map(\.name) == [
                    "rows that servers see", "rights of tombolo_gateway", "rights of tombolo_admin",
                    "rights of tombolo_app",
                ])
            #expect(try await migrator.plan().isEmpty)
            #expect(try await may("tombolo_gateway", "INSERT", "listing", owner))
        }
    }

    @Test("rights follow classes that are added, renamed and dropped; rights not defined by Tombolo are revoked")
    func rightsFollow() async throws {
        try await withCluster(owner: "CREATEROLE") { _, owner in
            let (gateway, admin, app) = ("tombolo_gateway", "tombolo_admin", "tombolo_app")
            try await migrator(owner, [Listing.self]).apply()
            #expect(try await !may(gateway, "SELECT", "viewing", owner))
            try await migrator(owner, [Listing.self, Viewing.self]).apply()
            for table in ["viewing", "viewing_remarks"] {
                #expect(try await may(gateway, "DELETE", table, owner), "\(table)")
                #expect(try await may(admin, "SELECT", table, owner), "\(table)")
                #expect(try await may(admin, "DELETE", table, owner), "\(table)")
                #expect(try await !may(admin, "TRUNCATE", table, owner), "\(table)")
                #expect(try await may(app, "UPDATE", table, owner), "\(table)")
            }
            // The table is renamed together with its rights, its policy, and a right on one of its columns.
            try await owner.execute(
                "REVOKE UPDATE ON listing FROM tombolo_app; GRANT UPDATE (price) ON listing TO tombolo_app")
            let renamed = Migrator(owner, schema: try Self.estates())
            try await renamed.apply()
            #expect(try await may(gateway, "UPDATE", "estate", owner))
            let cost = try await owner.query("SELECT has_column_privilege('tombolo_app', 'estate', 'cost', 'UPDATE')")
            #expect(try cost[0, 0].bool)
            #expect(try await !may(app, "UPDATE", "estate", owner))
            #expect(try await renamed.plan().isEmpty)
            // When a class is gone from the models, servers lose their rights to its table.
            #expect(try await !may(gateway, "SELECT", "viewing", owner))
            try await owner.execute("DROP TABLE viewing CASCADE")
            #expect(try await renamed.plan().isEmpty)
            // These rights are granted or revoked by hand.
            try await owner.execute(
                """
                GRANT SELECT ON tombolo.credential TO tombolo_app; GRANT TRUNCATE ON estate TO tombolo_gateway;
                GRANT SELECT ON estate TO tombolo_admin WITH GRANT OPTION; REVOKE SELECT ON tombolo.tick FROM tombolo_gateway;
                GRANT EXECUTE ON FUNCTION tombolo.take_lock(text) TO tombolo_app; GRANT CREATE ON SCHEMA tombolo TO tombolo_admin;
                CREATE TABLE report (n integer); GRANT SELECT ON report TO tombolo_app, tombolo_gateway;
                DROP POLICY tombolo_servers ON estate
                """)
            try await renamed.apply()
            #expect(try await !may(app, "SELECT", "tombolo.credential", owner))
            #expect(try await !may(gateway, "TRUNCATE", "estate", owner))
            #expect(try await !may(admin, "SELECT WITH GRANT OPTION", "estate", owner))
            #expect(try await may(admin, "SELECT", "estate", owner))
            #expect(try await may(gateway, "SELECT", "tombolo.tick", owner))
            let rest = try await owner.query(
                """
                SELECT has_function_privilege('tombolo_app', 'tombolo.take_lock(text)', 'EXECUTE'),
                    has_schema_privilege('tombolo_admin', 'tombolo', 'CREATE')
                """)
            #expect(try !rest[0, 0].bool && !rest[0, 1].bool)
            // The servers lose their right to the operator's own table, but a service may keep one.
            #expect(try await !may(gateway, "SELECT", "report", owner))
            #expect(try await may(app, "SELECT", "report", owner))
            #expect(try await renamed.plan().isEmpty)
        }
    }

    @Test("a prefix, chosen once, gives each database of a cluster its own server roles")
    func prefixes() async throws {
        try await withCluster(owner: "CREATEROLE") { superuser, owner in
            try await migrator(owner, [Listing.self]).apply()
            try await superuser.execute("CREATE DATABASE shop OWNER keeper")
            var configuration = owner.configuration.database("shop")
            configuration.user = "keeper"
            let shop = try await PostgresConnection.connect(configuration)
            let schema = try Schema.of([Listing.self])
            try await Migrator(shop, schema: schema, rolePrefix: "shop").apply()
            #expect(try await may("shop_gateway", "SELECT", "listing", shop))
            #expect(try await !may("tombolo_gateway", "SELECT", "listing", shop))
            #expect(try await !may("shop_gateway", "SELECT", "listing", owner))
            // The database remembers the prefix.
            #expect(try await Migrator(shop, schema: schema).plan().isEmpty)
            #expect(try await Migrator(shop, schema: schema, rolePrefix: "shop").plan().isEmpty)
            let other = try await Migrator(shop, schema: schema, rolePrefix: "store").plan()
            #expect(
                other.problems.first?.contains("already have other names: shop_admin, shop_app, shop_gateway") == true)
            let unusable = try await Migrator(shop, schema: schema, rolePrefix: "x\"; DROP").plan()
            #expect(unusable.problems.first?.contains("can't be the prefix of role names") == true)
            await shop.close()
        }
    }

    @Test("a server whose role lacks rights is told at startup what is missing and what to run")
    func check() async throws {
        try await withCluster(owner: "CREATEROLE") { superuser, owner in
            try await Migrator.toDocuments(
                [AppDocuments(models: try ModelDocument(app: "homes", objectTypes: [Listing.self, Viewing.self]))],
                on: owner
            ).apply()
            try await superuser.execute("CREATE ROLE nobody LOGIN; CREATE ROLE member LOGIN IN ROLE tombolo_gateway")
            func load(_ user: String, _ role: DatabaseRole) async throws -> String? {
                var configuration = owner.configuration
                configuration.user = user
                let pool = PostgresPool(configuration: configuration, options: Databases.poolOptions)
                do {
                    _ = try await role.loadModels(pool, logger: Logger(label: "check"))
                    await pool.shutdown()
                    return nil
                } catch {
                    await pool.shutdown()
                    return "\(error)"
                }
            }
            let refused = try #require(try await load("nobody", .gateway))
            #expect(
                refused.contains("'nobody' lacks rights that sync-gateway needs. Missing: EXECUTE on"), "\(refused)")
            #expect(refused.contains("CREATE ROLE gateway_1 LOGIN IN ROLE \"tombolo_gateway\""), "\(refused)")
            #expect(refused.contains(" more.\n"), "\(refused)")
            for user in ["member", "keeper"] { #expect(try await load(user, .gateway) == nil, "\(user)") }
            #expect(try await load("member", .admin)?.contains("EXECUTE on tombolo.restore(text, text)") == true)
            // Rights alone don't make rows in the trash visible.
            try await superuser.execute("ALTER ROLE tombolo_gateway LOGIN")
            try await owner.execute("DROP POLICY tombolo_servers ON viewing")
            let hidden = try #require(try await load("tombolo_gateway", .gateway))
            #expect(hidden.contains("the policy 'tombolo_servers' on public.viewing"), "\(hidden)")
            #expect(hidden.contains("run 'migration-tool apply'"), "\(hidden)")
            try await owner.execute("REVOKE DELETE ON listing FROM tombolo_gateway")
            #expect(try await load("tombolo_gateway", .gateway)?.contains("DELETE on public.listing") == true)
        }
    }

    @Test("the gateway's role can name the origin of its changes; a service that does so isn't believed")
    func origins() async throws {
        try await withCluster(owner: "CREATEROLE") { superuser, owner in
            try await migrator(owner, [Listing.self]).apply()
            try await superuser.execute(
                "ALTER ROLE tombolo_app LOGIN; CREATE ROLE member LOGIN IN ROLE tombolo_gateway")
            for (user, believed) in [("member", true), ("tombolo_app", false)] {
                let connection = try await connect(user, like: owner)
                try await connection.execute(
                    """
                    BEGIN; SET LOCAL tombolo.origin = '5 7 9 1 {} {}';
                    INSERT INTO listing (_id) VALUES (decode(lpad('\(believed ? 1 : 2)', 24, '0'), 'hex')); COMMIT
                    """)
                await connection.close()
                let last = try await owner.query(
                    "SELECT client IS NOT DISTINCT FROM 7 AND number IS NOT DISTINCT FROM 9 FROM tombolo.changelog ORDER BY seq DESC LIMIT 1"
                )
                #expect(try last[0, 0].bool == believed, "\(user)")
            }
        }
    }

    @Test("retention and the sequencer work as the gateway's role, which can't drop anything still needed")
    func retention() async throws {
        try await withCluster(owner: "CREATEROLE") { superuser, owner in
            try await migrator(owner, [Listing.self]).apply()
            try await superuser.execute("CREATE ROLE member LOGIN IN ROLE tombolo_gateway")
            let member = try await connect("member", like: owner)
            let retention = ChangelogRetention(configuration: member.configuration, stepTimeout: .seconds(600))
            let sequencer = Sequencer(configuration: member.configuration)
            let day: Int64 = 86_400_000_000
            var now = try #require(try await sequencer.makeTick()).time.microseconds
            var dropped: [Int64] = []
            for count in 0..<45 {
                now += day
                try await owner.execute(
                    "INSERT INTO listing (_id) VALUES (decode(lpad('\(count)', 24, '0'), 'hex'))")
                let tick = try #require(try await sequencer.makeTick())
                try await owner.query(
                    "UPDATE tombolo.tick SET time = $1 WHERE number = $2", [.int64(now), .int64(tick.number)])
                for _ in 0..<100 {
                    let report = try await retention.run(now: .init(microseconds: now))
                    dropped += report.droppedGenerations
                    // A step blocked by other transactions is left to the next run.
                    guard report.isWaiting else { break }
                }
            }
            #expect(dropped.count >= 10, "\(dropped)")
            await sequencer.resign()
            let current = try await owner.query("SELECT last_value >> 40 FROM tombolo.changelog_seq")[0, 0].int64
            for sql in [
                "SELECT tombolo.drop_changelog_partition(\(current))",
                "SELECT tombolo.drop_changelog_partition(\(current - 1))",
                "SELECT tombolo.attach_changelog_partition(\(current + 2))",
                "SELECT tombolo.open_changelog_partition(\(current - 1), 0)",
                "SELECT tombolo.open_changelog_partition(\(current + 5), 0)",
                // Opening the next partition before it exists would make every write fail.
                "SELECT tombolo.open_changelog_partition(\(current + 1), 0)",
            ] {
                await #expect(throws: PostgresError.self, "\(sql)") { try await member.query(sql) }
            }
            await member.close()
        }
    }

    @Test("'apply' prints the advice, creates roles with the requested prefix, and doesn't mention passwords")
    func command() async throws {
        try await withCluster { superuser, owner in
            let configuration = owner.configuration
            let address =
                "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432") connect_timeout=600 "
                + "user=keeper dbname=held"
            func run(_ arguments: [String]) async throws -> ProgramRun.Outcome {
                try await BuiltProgram("migration-tool", "MigrationTool").run(
                    arguments, environment: ["TOMBOLO_DATABASE_URL": address])
            }
            let advised = try await run(["apply", "--role-prefix", "shop"])
            #expect(advised.status == 0)
            #expect(advised.messages.contains("CREATE ROLE \"shop_gateway\" NOLOGIN;"), "\(advised.messages)")
            try await superuser.execute("ALTER ROLE keeper CREATEROLE")
            let made = try await run(["apply", "--verbose"])
            #expect(made.status == 0 && made.messages.isEmpty, "\(made.messages)")
            #expect(made.output.contains("roles shop_gateway, shop_admin, shop_app"), "\(made.output)")
            #expect(try await run(["status", "--check"]).status == 0)
            #expect(try await run(["apply"]).output.contains("up to date"))
        }
    }
}
