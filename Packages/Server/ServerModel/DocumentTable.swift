public import PostgresClient
internal import TomboloModel

/// Reads and writes `tombolo.document`. Rows are only added; of each app and kind the newest counts.
public enum DocumentTable {
    /// The advisory lock of everybody who adds documents or migrates: one number for every database. What is checked
    /// against the documents under it is still so when it is added.
    public static let lockKey = Int64(bitPattern: "tombolo.migration".stableHash)
    /// How long a server waits for it, and so for a migration.
    static let lockTimeoutMilliseconds = 3_000

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

    /// As ``version(_:)``, with the OID of the database: another one after it was replaced by another of its name, whose
    /// versions are of another history.
    static func place(_ connection: PostgresConnection) async throws -> (version: Int64, database: Int64) {
        let row = try await connection.query(
            """
            SELECT coalesce(max(version), 0), (SELECT oid::bigint FROM pg_database WHERE datname = current_database())
            FROM tombolo.document
            """)[0]
        return (try row[0].int64, try row[1].int64)
    }

    /// Who stored a version, and when.
    /// - Returns: the account that asked a server for it, or nil if a tool stored it; the time in RFC 3339.
    /// - Throws: the database's error.
    public static func origin(
        of version: Int64, _ connection: PostgresConnection
    ) async throws -> (account: String?, time: String)? {
        let found = try await connection.query(
            """
            SELECT account, to_char(added_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            FROM tombolo.document WHERE version = $1
            """, [.int64(version)])
        guard let row = found.first else { return nil }
        return (try row[0].nonNull?.string, try row[1].string)
    }

    /// Adds a newer version of an app's rules, for somebody who asked a server for it.
    /// - Returns: its version, or nil if `version` isn't the newest any more.
    /// - Throws: the database's error.
    static func addRules(
        _ content: String, app: String, after version: Int64, account: String?, _ connection: PostgresConnection
    ) async throws -> Int64? {
        try await connection.query(
            "SELECT tombolo.add_rules($1, $2, $3, $4)",
            [.text(app), .int64(version), .text(content), .text(account)]
        )[0, 0].nonNull?.int64
    }

    /// A document of an app as a tool last applied it: without what was changed in an admin server, before or since.
    /// - Returns: nil if no tool applied any.
    /// - Throws: the database's error.
    public static func applied(
        _ kind: DocumentKind, of app: String, _ connection: PostgresConnection
    ) async throws -> String? {
        // A database of an earlier version lacks columns.
        try await connection.query(
            """
            SELECT coalesce(to_jsonb(d) ->> 'applied', d.content) FROM tombolo.document d
            WHERE d.app = $1 AND d.kind = $2 AND to_jsonb(d) ->> 'account' IS NULL
            ORDER BY d.version DESC LIMIT 1
            """, [.text(app), .text(kind.rawValue)]
        ).first.map { try $0[0].string }
    }

    /// The statement that adds a document.
    /// - Parameters:
    ///   - applied: the document as a tool got it, if the content has what was changed in an admin server too.
    ///   - note: what became of changes that were made in an admin server.
    ///   - account: who asked a server for it; nil for a tool.
    public static func insertion(
        app: String, kind: DocumentKind, content: String, applied: String? = nil, note: String? = nil,
        account: String? = nil
    ) -> String {
        let text = PostgresSQL.quoteLiteral(content)
        // A database of an earlier version lacks these columns, and takes documents without them.
        let own = applied.flatMap { $0.hasBytes(of: content) ? nil : $0 }
        let more = [("applied", own), ("note", note), ("account", account)]
            .filter { $0.1 != nil }
        let columns = more.map { ", \($0.0)" }.joined()
        let values = more.map { ", \(PostgresSQL.quoteLiteral($0.1 ?? ""))" }.joined()
        return """
            INSERT INTO tombolo.document (app, kind, content, checksum\(columns)) \
            VALUES (\(PostgresSQL.quoteLiteral(app)), '\(kind.rawValue)', \(text), \
            encode(sha256(convert_to(\(text), 'UTF8')), 'hex')\(values))
            """
    }
}
