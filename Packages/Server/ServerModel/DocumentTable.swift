public import PostgresClient

/// Reads and writes `tombolo.document`. Rows are only added; of each app and kind the newest counts.
public enum DocumentTable {
    /// The newest documents of all apps, by app and kind.
    /// - Throws: ``ServerModelError/notMigrated`` for a database without the table; the database's error.
    public static func newest(_ connection: PostgresConnection) async throws -> [StoredDocument] {
        do {
            return try await connection.query(
                """
                SELECT DISTINCT ON (app, kind) version, app, kind, content FROM tombolo.document
                ORDER BY app, kind, version DESC
                """
            ).compactMap { row in
                guard let kind = DocumentKind(rawValue: try row[2].string) else { return nil }
                return StoredDocument(
                    version: try row[0].int64, app: try row[1].string, kind: kind, content: try row[3].string)
            }
        } catch let error as PostgresError where error.code == .undefinedTable || error.code == "3F000" {
            throw ServerModelError.notMigrated
        }
    }

    /// The version of the newest document; 0 if there is none.
    public static func version(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.query("SELECT coalesce(max(version), 0) FROM tombolo.document")[0, 0].int64
    }

    /// The statement that adds a document.
    public static func insertion(app: String, kind: DocumentKind, content: String) -> String {
        let text = PostgresSQL.quoteLiteral(content)
        return """
            INSERT INTO tombolo.document (app, kind, content, checksum) VALUES (\(PostgresSQL.quoteLiteral(app)), \
            '\(kind.rawValue)', \(text), encode(sha256(convert_to(\(text), 'UTF8')), 'hex'))
            """
    }
}
