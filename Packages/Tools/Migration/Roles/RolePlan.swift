import PostgresClient
import TomboloModel
import TomboloPostgresStore

/// Plans how to create a database's roles and to give each exactly its rights.
///
/// Roles are created without LOGIN if the migrating user may create roles. Passwords and logins are left to the
/// operator. If the user may not create roles and one is missing, everything else is done anyway, and ``advice`` says
/// what to do.
struct RolePlan {
    let schema: Schema
    let names: RoleNames
    /// The roles of every database, and those of the apps being migrated.
    let roles: [DatabaseRole]
    /// By class, the properties that the role of other services may not update.
    let fixedProperties: [String: Set<String>]
    /// Whether missing roles are created or, if the user can't do that, reported.
    let makesRoles: Bool

    static let policy = "tombolo_servers"

    struct Result {
        /// Steps before all others: creating a role may wait for another run that creates the same one, and no table
        /// may be locked meanwhile.
        var first: [SchemaStep] = []
        var steps: [SchemaStep] = []
        var advice: [String] = []
    }

    func result(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> Result {
        var result = Result()
        let missing = try await missingRoles(connection)
        let mayMake = try await connection.query(
            "SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user")[0, 0].bool
        let unmakeable = makesRoles && mayMake ? [] : missing
        if makesRoles, mayMake, !missing.isEmpty {
            result.first.append(
                SchemaStep(
                    name: "roles \(missing.map(names.name(of:)).joined(separator: ", "))",
                    sql: missing.map(creation).joined(separator: ";\n"), isTransactional: false))
        } else if makesRoles, !missing.isEmpty {
            result.advice.append(await advice(missing, connection))
        }
        let present = roles.filter { !unmakeable.contains($0) }
        result.steps += nameSteps(live)
        let newNames = live.newNames(for: schema)
        result.steps += try await policySteps(
            present.filter(\.seesEveryRow).map(names.name(of:)), newNames, connection)
        let found = try await RightsOnObjects.read(present.map(names.name(of:)), connection)
        for role in present {
            let name = names.name(of: role)
            let had = (found[name] ?? RightsOnObjects()).renamed(newNames)
            let wanted =
                role == .services
                ? ServiceRights.wanted(schema, had, fixedProperties: fixedProperties) : RightsOnObjects(role, schema)
            let statements = wanted.statements(from: had, for: name)
            if !statements.isEmpty {
                result.steps.append(SchemaStep(name: "rights of \(name)", sql: statements.joined(separator: ";\n")))
            }
        }
        return result
    }

    // MARK: Roles

    private func missingRoles(_ connection: PostgresConnection) async throws -> [DatabaseRole] {
        let found = try await connection.query(
            "SELECT rolname::text FROM pg_roles WHERE rolname = ANY ($1)", [.textArray(roles.map(names.name(of:)))])
        let present = Set(try found.map { try $0[0].string })
        return roles.filter { !present.contains(names.name(of: $0)) }
    }

    /// Another run may be creating the same role for another database of the cluster.
    private func creation(_ role: DatabaseRole) -> String {
        """
        DO $do$ BEGIN
            CREATE ROLE \(PostgresSQL.quoteIdentifier(names.name(of: role))) NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END $do$
        """
    }

    private func advice(_ missing: [DatabaseRole], _ connection: PostgresConnection) async -> String {
        let user = try? await connection.query("SELECT current_user::text")[0, 0].string
        let commands = missing.map { "  CREATE ROLE \(PostgresSQL.quoteIdentifier(names.name(of: $0))) NOLOGIN;" }
        return """
            Servers need \(missing.count == 1 ? "a role that is" : "\(missing.count) roles that are") missing, and \
            '\(user ?? "this user")' may not create roles (it lacks CREATEROLE). Everything else was done. As a user \
            who may, run
            \(commands.joined(separator: "\n"))
            then run this again to give them their rights. See docs/database-roles.md.
            """
    }

    // MARK: Names

    private func nameSteps(_ live: PostgresCatalog) -> [SchemaStep] {
        let new = roles.filter { names.stored[$0.name] == nil }
        guard !new.isEmpty || !live.systemRelations.contains(RoleNames.table) else { return [] }
        let rows = new.map {
            "(\(PostgresSQL.quoteLiteral($0.name)), \(PostgresSQL.quoteLiteral(names.name(of: $0))))"
        }
        return [
            SchemaStep(
                name: "names of database roles",
                sql: """
                    CREATE TABLE IF NOT EXISTS tombolo.\(RoleNames.table) (
                        name text COLLATE "C" PRIMARY KEY,
                        role text COLLATE "C" NOT NULL UNIQUE
                    );
                    COMMENT ON TABLE tombolo.\(RoleNames.table) IS 'Which role of PostgreSQL each kind of server has.';
                    INSERT INTO tombolo.\(RoleNames.table) (name, role) VALUES \(rows.joined(separator: ", "))
                    ON CONFLICT DO NOTHING
                    """)
        ]
    }

    // MARK: Rows

    /// Row-level security shows these roles every row, as it does for the owner. Each class's table gets a policy for
    /// that, even if no rows are hidden yet.
    private func policySteps(
        _ roles: [String], _ newNames: [String: PostgresCatalog.NewNames], _ connection: PostgresConnection
    ) async throws -> [SchemaStep] {
        guard !roles.isEmpty else { return [] }
        let found = try await connection.query(
            """
            SELECT c.relname::text, (SELECT array_to_string(array_agg(r.rolname::text ORDER BY r.rolname), ',')
                FROM pg_roles r WHERE r.oid = ANY (p.polroles))
            FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
            WHERE p.polname = $1 AND c.relnamespace = 'public'::regnamespace
            """, [.text(Self.policy)])
        var present: [String: String] = [:]
        for row in found {
            let table = try row[0].string
            present[newNames[table]?.table ?? table] = try row[1].nonNull?.string ?? ""
        }
        let wanted = roles.sorted().joined(separator: ",")
        let list = roles.sorted().map { PostgresSQL.quoteIdentifier($0) }.joined(separator: ", ")
        let statements = schema.classes.filter { present[$0.table] != wanted }.map { item in
            let table = PostgresSQL.quoteIdentifier("public", item.table)
            return """
                DROP POLICY IF EXISTS \(Self.policy) ON \(table);
                CREATE POLICY \(Self.policy) ON \(table) FOR ALL TO \(list) USING (true) WITH CHECK (true)
                """
        }
        guard !statements.isEmpty else { return [] }
        return [SchemaStep(name: "rows that servers see", sql: statements.joined(separator: ";\n"))]
    }
}
