import PostgresClient
import TomboloModel

/// What a ``RowReader`` asks the database for: rows of one class.
public struct RowQuery: Sendable {
    var statement: PostgresStatement
    let item: ClassSchema
}
