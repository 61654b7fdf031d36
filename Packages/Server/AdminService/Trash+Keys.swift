import PostgresClient
import PostgresValues
import TomboloModel
import TomboloPostgresStore

/// Keys of objects in SQL, of a row `o` where nothing else is said.
extension Trash {
    /// The quoted name of the primary key's column.
    static func key(_ item: ClassSchema) -> String { PostgresSQL.quoteIdentifier(item.primaryKey?.sqlName ?? "_id") }

    /// The text of the key, as ``TomboloModel/Value/keyText`` has it.
    static func keyText(_ item: ClassSchema, alias: String = "o") -> String {
        item.primaryKey?.type == .objectId ? "encode(\(alias).\(key(item)), 'hex')" : "\(alias).\(key(item))::text"
    }

    /// The text of a ``TrashAddress``: that of the row's group, and if it has none, its own.
    static func address(_ item: ClassSchema) -> String {
        let own =
            item.primaryKey?.type == .objectId
            ? keyText(item) : "\(PostgresSQL.quoteLiteral("\(item.name):")) || \(keyText(item))"
        return "coalesce(o.trash_group::text, \(own)) COLLATE \"C\""
    }

    /// A time as a server can read it: anything that's later than microseconds since 1970 can say is infinity. Services may
    /// have written whatever PostgreSQL takes.
    static func readableTime(_ time: String) -> String {
        "CASE WHEN \(time) < \(latestTime) THEN \(time) ELSE 'infinity' END"
    }

    /// In SQL, some days before the last that both PostgreSQL and microseconds since 1970 in an `Int64` have.
    static let latestTime = "timestamptz '294247-01-01 00:00:00+00'"

    static func list(_ keys: [Value], _ item: ClassSchema) throws -> PostgresParameter {
        try PostgresParameter(list: keys, of: item.primaryKey?.type ?? .objectId)
    }

    /// The key of an object of the class from its text.
    static func key(_ text: String, _ item: ClassSchema) -> Value? { item.primaryKey?.type.keyValue(text) }
}
