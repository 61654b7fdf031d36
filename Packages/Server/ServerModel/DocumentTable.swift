public import PostgresClient
internal import TomboloModel

/// Reads and writes `tombolo.document`. Rows are only added; the newest one for each app and kind is in effect.
public enum DocumentTable {
    /// The advisory lock for adding documents and for migrations, with the same key in every database. Anything that
    /// was checked against the documents under this lock is still true when the document is added.
    public static let lockKey = Int64(bitPattern: "tombolo.migration".stableHash)
    /// How long a server waits for the lock, and thus for a migration.
    static let lockTimeoutMilliseconds = 3_000

    /// The newest document for each app and kind.
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

    /// The version of the newest document, or 0 if there is none.
    public static func version(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.query("SELECT coalesce(max(version), 0) FROM tombolo.document")[0, 0].int64
    }

    /// Like ``version(_:)``, with the database's OID. The OID changes if the database is replaced by another one of
    /// the same name, whose versions belong to a different history.
    static func place(_ connection: PostgresConnection) async throws -> (version: Int64, database: Int64) {
        let row = try await connection.query(
            """
            SELECT coalesce(max(version), 0), (SELECT oid::bigint FROM pg_database WHERE datname = current_database())
            FROM tombolo.document
            """)[0]
        return (try row[0].int64, try row[1].int64)
    }

    /// Who stored a version, and when.
    /// - Returns: the account that asked a server to store it, or nil if a tool did; and the time in RFC 3339.
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

    /// Adds a newer version of an app's rules, on behalf of an account that asked a server for it.
    /// - Returns: the new version, or nil if `version` is no longer the newest.
    /// - Throws: the database's error.
    static func addRules(
        _ content: String, app: String, after version: Int64, account: String?, _ connection: PostgresConnection
    ) async throws -> Int64? {
        try await connection.query(
            "SELECT tombolo.add_rules($1, $2, $3, $4)",
            [.text(app), .int64(version), .text(content), .text(account)]
        )[0, 0].nonNull?.int64
    }

    /// An app's document as a tool last applied it, without any changes that were made in an admin server.
    /// - Returns: nil if no tool has applied one.
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
    ///   - applied: the document as the tool received it, if the content also includes changes that were made in an
    ///     admin server.
    ///   - note: what happened to changes that were made in an admin server.
    ///   - account: the account that asked a server for it, or nil for a tool.
    public static func insertion(
        app: String, kind: DocumentKind, content: String, applied: String? = nil, note: String? = nil,
        account: String? = nil
    ) -> String {
        let text = PostgresSQL.quoteLiteral(content)
        // A database of an earlier version lacks these columns, and stores documents without them.
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
