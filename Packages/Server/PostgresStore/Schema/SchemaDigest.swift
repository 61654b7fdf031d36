internal import PostgresClient

/// Tells whether names or numbers of classes and columns changed since they were read.
///
/// A table or column that is gone shows itself by an error. One that gave its name to another doesn't: what is read or
/// written then is checked by the digest before it counts.
enum SchemaDigest {
    /// Of the rows as they are, whatever columns the database's version gives them.
    static let query = """
        SELECT (SELECT coalesce(sum(hashtextextended(c::text, 0)), 0) FROM tombolo.class c)::text || ' ' || \
        (SELECT coalesce(sum(hashtextextended(k::text, 0)), 0) FROM tombolo.class_column k)::text
        """

    static func read(_ connection: PostgresConnection) async throws -> String {
        try await connection.query(query)[0, 0].string
    }
}
