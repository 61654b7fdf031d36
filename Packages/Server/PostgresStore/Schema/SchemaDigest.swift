internal import PostgresClient

/// Detects whether names or numbers of classes and columns changed since they were read.
///
/// If a table or column is gone, an error shows it. If another one has taken over its name, no error does. So
/// everything that is read or written is checked against the digest before it counts.
enum SchemaDigest {
    /// A digest of the whole rows, whichever columns the database's version has.
    static let query = """
        SELECT (SELECT coalesce(sum(hashtextextended(c::text, 0)), 0) FROM tombolo.class c)::text || ' ' || \
        (SELECT coalesce(sum(hashtextextended(k::text, 0)), 0) FROM tombolo.class_column k)::text
        """

    static func read(_ connection: PostgresConnection) async throws -> String {
        try await connection.query(query)[0, 0].string
    }
}
