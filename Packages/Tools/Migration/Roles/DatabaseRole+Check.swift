public import Logging
public import PostgresClient
import TomboloModel
public import TomboloServerModel

extension DatabaseRole {
    /// Loads a server's models, and checks that the server has all the rights that it needs: anything missing shows
    /// at startup, not in responses to users.
    /// - Parameters:
    ///   - isOpen: see `ServerModels.load(_:isOpen:)`. In development mode, servers are meant to connect as the
    ///     owner.
    /// - Throws: ``MissingRightsError``; what `ServerModels.load(_:isOpen:)` throws.
    public func loadModels(
        _ pool: PostgresPool, isOpen: Bool = false, logger: Logger
    ) async throws -> ServerModels {
        try await check(pool, nil)
        let models = try await ServerModels.load(pool, isOpen: isOpen)
        try await check(pool, models.current.schema)
        if !isOpen { try await warnOwner(pool, logger) }
        return models
    }

    /// Checks that the pool's user has the role's rights on everything except the tables of classes.
    /// - Throws: ``MissingRightsError``; the database's error.
    public func check(_ pool: PostgresPool) async throws { try await check(pool, nil) }

    private func check(_ pool: PostgresPool, _ schema: Schema?) async throws {
        try await pool.withConnection { connection in
            let user = try await connection.query("SELECT current_user::text")[0, 0].string
            let found = try await missing(schema, connection)
            guard !found.isEmpty else { return }
            throw MissingRightsError(
                program: program, user: user, role: try await name(for: connection), missing: found)
        }
    }

    /// The role's name in this database, as far as the user can see it.
    private func name(for connection: PostgresConnection) async throws -> String {
        do {
            return try await RoleNames.read(connection, prefix: nil).name(of: self)
        } catch let error as PostgresError where error.code == .insufficientPrivilege {
            return RoleNames().name(of: self)
        }
    }

    /// The rights that the user lacks, as text. Objects that don't exist count as permitted, because other errors
    /// report those.
    func missing(_ schema: Schema?, _ connection: PostgresConnection) async throws -> [String] {
        let wanted = RightsOnObjects(self, schema).items.sorted { $0.key < $1.key }.flatMap { key, items in
            items.sorted().map { (key: key, item: $0) }
        }
        let places = try await connection.query(
            Self.missingQuery,
            [
                .textArray(wanted.map(\.key.kind)), .textArray(wanted.map(\.key.schema)),
                .textArray(wanted.map(\.key.name)), .textArray(wanted.map(\.item.privilege)),
                .textArray(wanted.map(\.item.column)),
            ]
        ).map { Int(try $0[0].int64) - 1 }
        var result = places.filter(wanted.indices.contains).map { place in
            "\(wanted[place].item.description) on \(wanted[place].key.description)"
        }
        if seesEveryRow, let schema {
            let hidden = try await connection.query(
                Self.hiddenQuery, [.textArray(schema.classes.map(\.table)), .text(RolePlan.policy)])
            result += try hidden.map { "the policy '\(RolePlan.policy)' on public.\(try $0[0].string)" }
        }
        return result
    }

    /// Looks up names in the catalog, which any user may read, because casts fail without USAGE.
    private static let missingQuery = """
        WITH wanted AS (
            SELECT w.*, n.oid AS namespace, (
                SELECT c.oid FROM pg_class c
                WHERE c.relnamespace = n.oid AND c.relname = w.name AND w.kind IN ('TABLE', 'SEQUENCE')
            ) AS relation, (
                SELECT p.oid FROM pg_proc p WHERE p.pronamespace = n.oid
                    AND p.proname || '(' || oidvectortypes(p.proargtypes) || ')' = w.name AND w.kind = 'FUNCTION'
            ) AS function
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
                WITH ORDINALITY AS w (kind, schema, name, privilege, col, place)
            JOIN pg_namespace n ON n.nspname = w.schema
        )
        SELECT place FROM wanted w WHERE NOT CASE kind
            WHEN 'SCHEMA' THEN has_schema_privilege(namespace, privilege)
            WHEN 'FUNCTION' THEN has_function_privilege(function, privilege)
            WHEN 'SEQUENCE' THEN has_sequence_privilege(relation, privilege)
            ELSE CASE WHEN col IS NULL THEN has_table_privilege(relation, privilege)
                ELSE (SELECT has_column_privilege(relation, a.attnum, privilege) FROM pg_attribute a
                    WHERE a.attrelid = relation AND a.attname = col AND NOT a.attisdropped) END
            END
        ORDER BY place
        """

    /// Tables with policies that may hide rows from the user.
    private static let hiddenQuery = """
        SELECT c.relname::text FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1) AND row_security_active(c.oid)
            AND NOT EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = $2
                AND EXISTS (SELECT 1 FROM unnest(p.polroles) AS r WHERE pg_has_role(r, 'USAGE')))
        ORDER BY 1
        """

    private func warnOwner(_ pool: PostgresPool, _ logger: Logger) async throws {
        let found = try await pool.withConnection { connection in
            try await connection.query(
                """
                SELECT current_user::text FROM pg_class c
                WHERE c.oid = to_regclass('tombolo.document') AND pg_has_role(c.relowner, 'USAGE')
                """)
        }
        guard let user = try found.first?[0].string else { return }
        logger.warning(
            """
            \(program) connects as '\(user)', which owns the tables. Let it connect as a user that has only the rights \
            of its role: see docs/database-roles.md.
            """)
    }
}
