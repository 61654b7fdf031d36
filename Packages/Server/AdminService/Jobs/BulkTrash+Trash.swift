package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloJSONAPI
import TomboloModel
import TomboloRules

extension BulkTrash {
    /// The trash of this server's classes.
    package static func of(_ pool: PostgresPool) -> BulkTrash {
        BulkTrash(
            move: { connection, schema, className, key, user, reason in
                let group = try await Trash(schema: schema, pool: pool).trash(
                    className, key, by: user, because: reason, on: connection)
                return (group.id, group.count)
            },
            restore: { connection, rules, subject, className, key, expected in
                let address = TrashAddress(className, key)
                guard let item = rules.schema[className], let (column, value) = try address.condition(item) else {
                    return nil
                }
                let found = try await connection.query(
                    """
                    SELECT trash_group FROM \(PostgresSQL.quoteIdentifier(item.table))
                    WHERE \(column) = $1 AND trashed_at IS NOT NULL
                    """, [value])
                guard let row = found.first else { return nil }
                let group = try row[0].nonNull?.uuid
                if let expected, group != expected { return nil }
                return try await Trash(schema: rules.schema, pool: pool).restore(
                    group.map { .group($0) } ?? address, RestoreWishes(),
                    by: Trash.Restorer(subject: subject, rules: rules), on: connection
                ).count
            },
            keep: { connection, rules, subject, className, group in
                try await Trash(schema: rules.schema, pool: pool).reasonToKeep(
                    group, of: className, for: Trash.Restorer(subject: subject, rules: rules), connection)
            })
    }
}
