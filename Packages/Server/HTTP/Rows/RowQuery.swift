import PostgresClient
import TomboloModel

/// A query of a ``RowReader`` for rows of one class.
public struct RowQuery: Sendable {
    var statement: PostgresStatement
    let item: ClassSchema
}
