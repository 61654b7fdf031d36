package import PostgresClient
package import TomboloModel
import TomboloRules
package import TomboloServerModel

/// Who has a role of an app, according to the classes that give roles. For people who manage roles.
package struct RoleHolders: Sendable {
    package struct Holder: Sendable {
        /// Nil for objects that give the role to a user without an account.
        package let userID: ObjectId?
        package let name: String
        package let email: String?
        /// How many objects give it to this user, such as one for each event.
        package let grants: Int64
    }

    /// How many users have the role, and how many objects give it, including objects in the trash.
    package let users: Int64
    package let grants: Int64
    /// By e-mail address, at most ``limit``.
    package let holders: [Holder]

    package static let limit = 50

    package init(users: Int64, grants: Int64, holders: [Holder]) {
        self.users = users
        self.grants = grants
        self.holders = holders
    }

    /// - Throws: the database's error.
    nonisolated(nonsending) package static func find(
        _ role: String, of app: String, _ model: ServerModel, _ connection: PostgresConnection
    ) async throws -> RoleHolders {
        let classes = Set(model.models[app]?.classes.map(\.name) ?? [])
        let sources = model.rules.grantColumns.filter { classes.contains(model.schema[$0.classIndex].name) }
        guard !sources.isEmpty else { return RoleHolders(users: 0, grants: 0, holders: []) }
        let queries = sources.map { columns in
            let item = model.schema[columns.classIndex]
            let user = item.columns[columns.userColumn]
            let name = "g.\(PostgresSQL.quoteIdentifier(user.sqlName))"
            // Text that isn't an id belongs to nobody.
            let isText = model.schema.storedType(of: user) == .string
            let id = isText ? "CASE WHEN \(name) ~ '^[0-9a-f]{24}$' THEN decode(\(name), 'hex') END" : name
            return "SELECT \(id) AS user_id FROM \(PostgresSQL.quoteIdentifier("public", item.table)) g "
                + "WHERE g.\(PostgresSQL.quoteIdentifier(item.columns[columns.roleColumn].sqlName)) = $1"
        }
        let result = try await connection.query(
            """
            SELECT g.user_id, coalesce(a.display_name, ''), a.email, count(*), count(*) OVER (),
                (sum(count(*)) OVER ())::bigint
            FROM (\(queries.joined(separator: " UNION ALL "))) AS g
                LEFT JOIN tombolo.account a ON a.id = g.user_id
            GROUP BY g.user_id, a.display_name, a.email ORDER BY a.email, g.user_id LIMIT \(limit)
            """, [.text(role)])
        let holders = try result.map { row in
            Holder(
                userID: try row[0].nonNull.flatMap { ObjectId(bytes: try $0.bytes) }, name: try row[1].string,
                email: try row[2].nonNull?.string, grants: try row[3].int64)
        }
        return RoleHolders(
            users: try result.first?[4].int64 ?? 0, grants: try result.first?[5].int64 ?? 0, holders: holders)
    }
}
