import ConferenceSetup
import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloModel
import TomboloServerModel

/// What the database roles of servers and services may do, tried on a real database; everything else must be refused.
@Suite struct DatabaseRoleTests {
    static let roles = DatabaseRole.all + [Conference.ticketRole]

    /// A database in its own cluster, because roles belong to the cluster and here they log in themselves.
    private func withRoles(
        _ body: (_ owner: PostgresConnection, _ connect: (String) async throws -> PostgresConnection) async throws ->
            Void
    ) async throws {
        let cluster = try await TestCluster.start()
        let superuser = try await PostgresConnection.connect(cluster.configuration)
        try await superuser.execute("CREATE ROLE keeper LOGIN CREATEROLE")
        try await superuser.execute("CREATE DATABASE held OWNER keeper")
        var configuration = cluster.configuration.database("held")
        configuration.user = "keeper"
        let owner = try await PostgresConnection.connect(configuration)
        try await Conference.migrator(owner).apply()
        let names = Self.roles.map(RoleNames().name(of:))
        let logins = try await owner.query(
            "SELECT count(*) FROM pg_roles WHERE rolcanlogin AND rolname = ANY ($1)", [.textArray(names)])
        #expect(try logins[0, 0].int == 0, "By default, no role can log in.")
        for name in names { try await superuser.execute("ALTER ROLE \(name) LOGIN") }
        try await body(owner) { name in
            var other = configuration
            other.user = name
            return try await PostgresConnection.connect(other)
        }
        await owner.close()
        await superuser.close()
        await cluster.remove()
    }

    @Test("on every table, column, view and sequence, each role has exactly the rights in its definition")
    func relations() async throws {
        let schema = try ServerModel.schema()
        try await withRoles { owner, connect in
            var tried = 0
            for role in Self.roles {
                let connection = try await connect(RoleNames().name(of: role))
                let trial = RightsTrial(connection: connection, owner: owner)
                for relation in try await trial.relations() {
                    var expected = RightsTrial.expected(role, relation, schema)
                    if role == .services, relation.schema == "public", relation.name == "users" {
                        // The conference withholds these columns from services.
                        let fixed: Set = [
                            "_id", "email", "is_super_admin", "trashed_at", "trashed_by", "trash_group", "trash_reason",
                        ]
                        expected.remove("UPDATE")
                        expected.formUnion(relation.columns.filter { !fixed.contains($0) }.map { "UPDATE (\($0))" })
                    }
                    let found = try await trial.rights(on: relation)
                    #expect(
                        found == expected,
                        "\(role.name) on \(relation.schema).\(relation.name): too many \(found.subtracting(expected).sorted()), missing \(expected.subtracting(found).sorted())"
                    )
                    tried += 1
                }
                await connection.close()
            }
            #expect(tried > 150)
        }
    }

    @Test(
        "each role may call exactly the functions in its definition, and may neither use another schema nor create objects"
    )
    func functions() async throws {
        try await withRoles { owner, connect in
            let functions = try await owner.query(
                """
                SELECT p.proname || '(' || oidvectortypes(p.proargtypes) || ')' FROM pg_proc p
                JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname IN ('tombolo', 'public') ORDER BY 1
                """
            ).map { try $0[0].string }
            #expect(functions.count > 30)
            for role in Self.roles {
                let name = RoleNames().name(of: role)
                let targets = Set(role.rights.map(\.target))
                let callable = try await owner.query(
                    """
                    SELECT p.proname || '(' || oidvectortypes(p.proargtypes) || ')' FROM pg_proc p
                    JOIN pg_namespace n ON n.oid = p.pronamespace
                    WHERE n.nspname IN ('tombolo', 'public') AND has_function_privilege($1, p.oid, 'EXECUTE')
                    """, [.text(name)]
                ).map { try $0[0].string }
                #expect(Set(callable) == Set(functions.filter { targets.contains(.function($0)) }), "\(name)")
                let connection = try await connect(name)
                let trial = RightsTrial(connection: connection, owner: owner)
                // Includes trigger functions, which take no arguments; the others get NULLs of the right types.
                for function in functions where !targets.contains(.function(function)) {
                    let arguments = function.split(separator: "(").last?.dropLast().split(separator: ",").map { type in
                        "NULL::\(type)"
                    }
                    let call =
                        "\(function.prefix { $0 != "(" })(\((arguments ?? []).joined(separator: ", ")))"
                    #expect(try await !trial.permits("SELECT tombolo.\(call)"), "\(name): \(call)")
                }
                for sql in Self.forbidden {
                    #expect(try await !trial.permits(sql), "\(name): \(sql)")
                }
                // Outside a transaction, where it's refused to everybody.
                await #expect {
                    try await connection.execute("ALTER SYSTEM SET log_statement = 'all'")
                } throws: { ($0 as? PostgresError)?.code == .insufficientPrivilege }
                await connection.close()
            }
        }
    }

    /// Statements that no role may run, whatever its rights.
    private static let forbidden = [
        "SET session_replication_role = replica", "SET ROLE keeper", "SET ROLE postgres",
        "SET SESSION AUTHORIZATION keeper", "CREATE TABLE public.x (i integer)", "CREATE TABLE tombolo.x (i integer)",
        "CREATE SCHEMA x", "CREATE ROLE x", "ALTER ROLE keeper LOGIN PASSWORD 'x'", "GRANT keeper TO CURRENT_USER",
        "CREATE FUNCTION public.x() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "CREATE OR REPLACE FUNCTION tombolo.take_lock(p_name text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "DROP FUNCTION tombolo.log_account() CASCADE", "ALTER DATABASE held SET search_path = x",
        "DROP SCHEMA tombolo CASCADE", "ALTER SCHEMA tombolo RENAME TO x",
        "COPY (SELECT 1) TO PROGRAM 'true'", "COPY (SELECT 1) TO '/tmp/x'", "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_reload_conf()",
        "SELECT lo_import('/etc/passwd')", "DROP OWNED BY keeper", "REASSIGN OWNED BY keeper TO CURRENT_USER",
        "SELECT rolpassword FROM pg_authid", "SELECT * FROM pg_statistic", "CREATE PUBLICATION x FOR ALL TABLES",
        "CREATE EVENT TRIGGER x ON ddl_command_start EXECUTE FUNCTION tombolo.log_account()",
    ]

    @Test("no role has special attributes, is a member of another, owns anything, or may grant rights to others")
    func attributes() async throws {
        try await withRoles { owner, _ in
            let names = PostgresParameter.textArray(Self.roles.map(RoleNames().name(of:)))
            for (what, query) in [
                (
                    "powers",
                    "SELECT rolname::text FROM pg_roles WHERE rolname = ANY ($1) AND (rolsuper OR rolcreaterole "
                        + "OR rolcreatedb OR rolreplication OR rolbypassrls)"
                ),
                (
                    "memberships",
                    "SELECT r.rolname::text FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member "
                        + "WHERE r.rolname = ANY ($1)"
                ),
                (
                    "possessions",
                    "SELECT r.rolname::text FROM pg_shdepend d JOIN pg_roles r ON r.oid = d.refobjid "
                        + "WHERE d.deptype = 'o' AND r.rolname = ANY ($1)"
                ),
                (
                    "grants to pass on",
                    "SELECT r.rolname::text FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee "
                        + "WHERE a.is_grantable AND r.rolname = ANY ($1)"
                ),
                (
                    "rights on nothing",
                    "SELECT n FROM unnest($1::text[]) AS n WHERE n NOT IN (SELECT rolname FROM pg_roles)"
                ),
            ] {
                let found = try await owner.query(query, [names]).map { try $0[0].string }
                #expect(found == [], "\(what)")
            }
        }
    }

    @Test("only the servers that log users in can read account secrets, and each reads only those that it needs")
    func secrets() async throws {
        let secret = [
            "credential", "refresh_token", "signing_key_secret", "api_key", "mail_token", "provider", "identity",
            "panel_session", "second_factor", "recovery_code",
        ]
        let ofPanel: Set = ["panel_session", "second_factor", "recovery_code"]
        let readers: [String: Set<String>] = [
            "app": [], "tickets": Set(secret).subtracting(ofPanel.union(["mail_token"])),
            "admin": Set(secret),
            // It reads the parts of second factors needed for checking a code, not those being set up.
            "gateway": Set(secret).subtracting(["panel_session", "second_factor"]),
        ]
        try await withRoles { owner, connect in
            for role in Self.roles {
                let connection = try await connect(RoleNames().name(of: role))
                let trial = RightsTrial(connection: connection, owner: owner)
                var found: Set<String> = []
                for table in secret where try await trial.permits("SELECT * FROM tombolo.\(table)") {
                    found.insert(table)
                }
                #expect(found == readers[role.name], "\(role.name)")
                #expect(try await trial.permits("SELECT * FROM tombolo.changelog") == (role == .gateway))
                await connection.close()
            }
        }
    }

    @Test("servers see and change rows that row-level security hides from services")
    func rows() async throws {
        try await withRoles { owner, connect in
            let boss = "'\\x0000000000000000000000b1'::bytea"
            let other = "'\\x0000000000000000000000b2'::bytea"
            try await owner.execute(
                """
                INSERT INTO users (_id, email, display_name) VALUES (\(boss), 'boss@x.org', 'B');
                INSERT INTO role_assignment (_id, "user", role)
                VALUES ('\\x0000000000000000000000c2', \(boss), 'superAdmin');
                INSERT INTO users (_id, email, display_name) VALUES (\(other), 'other@x.org', 'O');
                INSERT INTO role_assignment (_id, "user", role)
                VALUES ('\\x0000000000000000000000c3', \(other), 'superAdmin');
                INSERT INTO event (_id, name, trashed_at) VALUES ('\\x0000000000000000000000e1', 'E', now())
                """)
            for (name, seesTrash) in [("gateway", true), ("admin", true), ("tickets", false), ("app", false)] {
                let connection = try await connect("tombolo_\(name)")
                #expect(try await connection.query("SELECT 1 FROM event").isEmpty == !seesTrash, "\(name)")
                await connection.close()
            }
            let gateway = try await connect("tombolo_gateway")
            for sql in [
                "UPDATE users SET display_name = 'Boss' WHERE _id = \(boss)",
                "UPDATE event SET trashed_at = NULL", "UPDATE event SET trashed_at = now()",
                "UPDATE role_assignment SET role = 'admin' WHERE \"user\" = \(boss)",
            ] {
                #expect(try await gateway.query(sql).affectedRows == 1, "\(sql)")
            }
            await gateway.close()
            let admin = try await connect("tombolo_admin")
            let found = try await admin.query(
                "SELECT 1 FROM event WHERE trashed_at IS NOT NULL FOR UPDATE")
            #expect(found.count == 1)
            _ = try await admin.query(
                "SELECT tombolo.restore('Event', '0000000000000000000000e1'), tombolo.trash('User', $1, 'x', NULL)",
                [.text("0000000000000000000000b1")])
            #expect(try await admin.query("SELECT 1 FROM users WHERE trashed_at IS NOT NULL FOR UPDATE").count == 1)
            await admin.close()
        }
    }

    @Test("docs/database-roles.md lists each role's rights as they are defined")
    func document() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/database-roles.md"), encoding: .utf8)
        for role in Self.roles {
            #expect(text.contains(role.rightsTable), "The page's table of \(role.name) should be:\n\(role.rightsTable)")
        }
    }
}

extension ServerModel {
    /// The conference's classes as a server sees them.
    fileprivate static func schema() throws -> TomboloModel.Schema {
        let documents = try Conference.documents()
        guard let models = documents.models else { return try ServerModel([]).schema }
        return try ServerModel([
            StoredDocument(version: 1, app: models.app, kind: .models, content: models.json)
        ]).schema
    }
}
