package import PostgresClient

/// A stored version of a document, without its text.
package struct DocumentVersion: Hashable, Sendable {
    package let version: Int64
    package let app: String
    package let kind: DocumentKind
    package let byteCount: Int
    /// Microseconds since 1970.
    package let addedAt: Int64
    /// The account that asked a server to store it, or nil if a tool did.
    package let account: String?
    /// The account's name, if the account still exists.
    package let accountName: String?
    /// What a tool kept or dropped of changes that were made in an admin server.
    package let note: String?
    /// The previous version of the same app and kind, or nil for the first.
    package let before: Int64?
    /// Whether it is in effect, because there is no newer version.
    package let isNewest: Bool
}

extension DocumentTable {
    /// Versions on one page of the history.
    package static let historyPageSize = 50

    /// Reads a page of the history, newest documents first.
    /// - Parameters:
    ///   - app: limits the history to this app.
    ///   - kind: limits the history to this kind.
    ///   - page: counted from 1.
    /// - Throws: the database's error.
    package static func history(
        app: String? = nil, kind: DocumentKind? = nil, page: Int = 1, _ connection: PostgresConnection
    ) async throws -> (versions: [DocumentVersion], hasMore: Bool) {
        let found = try await connection.query(
            """
            SELECT d.version, d.app, d.kind, octet_length(d.content), d.added_at, d.account, a.display_name,
                (SELECT max(o.version) FROM tombolo.document o
                    WHERE o.app = d.app AND o.kind = d.kind AND o.version < d.version),
                NOT EXISTS (SELECT FROM tombolo.document o
                    WHERE o.app = d.app AND o.kind = d.kind AND o.version > d.version),
                d.note
            FROM tombolo.document d LEFT JOIN tombolo.account a
                ON a.id = CASE WHEN d.account ~ '^[0-9a-f]{24}$' THEN decode(d.account, 'hex') END
            WHERE ($1::text IS NULL OR d.app = $1) AND ($2::text IS NULL OR d.kind = $2)
            ORDER BY d.version DESC LIMIT \(historyPageSize + 1) OFFSET \((page - 1) * historyPageSize)
            """, [.text(app), .text(kind?.rawValue)])
        let versions = try found.prefix(historyPageSize).compactMap { row -> DocumentVersion? in
            guard let kind = DocumentKind(rawValue: try row[2].string) else { return nil }
            return DocumentVersion(
                version: try row[0].int64, app: try row[1].string, kind: kind, byteCount: try row[3].int,
                addedAt: try row[4].timestampMicroseconds, account: try row[5].nonNull?.string,
                accountName: try row[6].nonNull?.string, note: try row[9].nonNull?.string,
                before: try row[7].nonNull?.int64, isNewest: try row[8].bool)
        }
        return (versions, found.count > historyPageSize)
    }

    /// - Returns: nil if there is no such version.
    /// - Throws: the database's error.
    package static func document(
        _ version: Int64, _ connection: PostgresConnection
    ) async throws -> StoredDocument? {
        let found = try await connection.query(
            "SELECT version, app, kind, content FROM tombolo.document WHERE version = $1", [.int64(version)])
        guard let row = found.first, let kind = DocumentKind(rawValue: try row[2].string) else { return nil }
        return StoredDocument(
            version: try row[0].int64, app: try row[1].string, kind: kind, content: try row[3].string)
    }

    /// The version of the same app and kind before a document, or nil for the first.
    /// - Throws: the database's error.
    package static func before(
        _ document: StoredDocument, _ connection: PostgresConnection
    ) async throws -> Int64? {
        try await connection.query(
            "SELECT max(version) FROM tombolo.document WHERE app = $1 AND kind = $2 AND version < $3",
            [.text(document.app), .text(document.kind.rawValue), .int64(document.version)]
        )[0, 0].nonNull?.int64
    }
}
