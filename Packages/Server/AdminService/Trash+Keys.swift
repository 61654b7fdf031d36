import PostgresClient
import PostgresValues
import TomboloModel
import TomboloPostgresStore

/// SQL expressions for objects' keys, for a row `o` unless a parameter says otherwise.
extension Trash {
    /// The quoted name of the primary key's column.
    static func key(_ item: ClassSchema) -> String { PostgresSQL.quoteIdentifier(item.primaryKey?.sqlName ?? "_id") }

    /// The key as text, in the same form as ``TomboloModel/Value/keyText``.
    static func keyText(_ item: ClassSchema, alias: String = "o") -> String {
        item.primaryKey?.type == .objectId ? "encode(\(alias).\(key(item)), 'hex')" : "\(alias).\(key(item))::text"
    }

    /// The text of a ``TrashAddress``: the address of the row's group or, if there is none, the row's own.
    static func address(_ item: ClassSchema) -> String {
        let own =
            item.primaryKey?.type == .objectId
            ? keyText(item) : "\(PostgresSQL.quoteLiteral("\(item.name):")) || \(keyText(item))"
        return "coalesce(o.trash_group::text, \(own)) COLLATE \"C\""
    }

    /// A time that a server can read: anything later than microseconds since 1970 can express becomes infinity.
    /// Services may have written any value that PostgreSQL accepts.
    static func readableTime(_ time: String) -> String {
        "CASE WHEN \(time) < \(latestTime) THEN \(time) ELSE 'infinity' END"
    }

    /// In SQL. Some days before the last time that both PostgreSQL and microseconds since 1970 in an `Int64` can
    /// represent.
    static let latestTime = "timestamptz '294247-01-01 00:00:00+00'"

    static func list(_ keys: [Value], _ item: ClassSchema) throws -> PostgresParameter {
        try PostgresParameter(list: keys, of: item.primaryKey?.type ?? .objectId)
    }

    /// The key of an object of the class, parsed from text.
    static func key(_ text: String, _ item: ClassSchema) -> Value? { item.primaryKey?.type.keyValue(text) }
}
