import PostgresClient
import PostgresValues
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Lists that users save under a name: the query of an address, visible only to themselves.
struct SavedViews: PanelSection {
    static let path = "\(AdminPanel.path)/views"
    /// The maximum number of views of one user for one class.
    static let maximumCount = 50
    static let maximumNameByteCount = 100
    static let maximumQueryByteCount = 4_096

    struct View: Sendable {
        let name: String
        let query: String
    }

    /// A user's views of a class, by name.
    static func all(of userID: ObjectId, _ type: ResourceType, _ pool: PostgresPool) async throws -> [View] {
        try await pool.query(
            """
            SELECT name, query FROM tombolo.panel_view WHERE user_id = $1 AND class = $2
            ORDER BY name LIMIT \(maximumCount)
            """, [.objectId(userID), .text(type.item.name)]
        ).map { View(name: try $0[0].string, query: try $0[1].string) }
    }

    func add(to panel: PanelRoutes) {
        let reading = ClassPages.access(localized("read", context: "may …"), panel.core) { _ in [.read] }
        panel.action("\(Self.path)/{collection}", access: reading) { request, grant in
            try await save(request, ClassPages.found(request, grant).type)
        }
        panel.action("\(Self.path)/{collection}/delete", access: reading) { request, grant in
            try await delete(request, ClassPages.found(request, grant).type)
        }
    }

    private func save(_ request: PanelRequest, _ type: ResourceType) async throws -> PanelAnswer {
        let name = try Self.name(request)
        let query = request.form["query"] ?? ""
        // The query is only ever used as part of an address.
        guard query.utf8.count <= Self.maximumQueryByteCount,
            query.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !"\"<>#\\".utf8.contains($0) })
        else {
            throw RequestFailure(
                .badRequest, "This view can't be saved: its address is too long or invalid.",
                hint: "Remove some filters.")
        }
        let saved = try await request.core.pool.transaction { connection in
            // Serializes a user's concurrent saves, so that each count is right.
            try await connection.query(
                "SELECT pg_advisory_xact_lock(hashtextextended('tombolo.panel_view ' || $1, 0))",
                [.text(request.userID.stringValue)])
            return try await connection.query(
                """
                INSERT INTO tombolo.panel_view (user_id, class, name, query)
                SELECT $1, $2, $3, $4
                WHERE (SELECT count(*) FROM tombolo.panel_view WHERE user_id = $1 AND class = $2 AND name <> $3)
                    < \(Self.maximumCount)
                ON CONFLICT (user_id, class, name) DO UPDATE SET query = EXCLUDED.query RETURNING name
                """, [.objectId(request.userID), .text(type.item.name), .text(name), .text(query)])
        }
        guard !saved.isEmpty else {
            throw RequestFailure(
                .conflict, "You already have \(Self.maximumCount) views of this class.", hint: "Delete one first.")
        }
        let path = ClassPages.path(of: type)
        return .redirect(
            to: query.isEmpty ? path : "\(path)?\(query)",
            notice: PanelNotice(localized("The view '\(name)' is saved.")))
    }

    private func delete(_ request: PanelRequest, _ type: ResourceType) async throws -> PanelAnswer {
        let name = try Self.name(request)
        let deleted = try await request.core.pool.query(
            "DELETE FROM tombolo.panel_view WHERE user_id = $1 AND class = $2 AND name = $3 RETURNING query",
            [.objectId(request.userID), .text(type.item.name), .text(name)])
        var notice = PanelNotice(localized("The view '\(name)' was deleted."))
        if let query = try deleted.first.map({ try $0[0].string }) {
            notice.undo = PanelNotice.Undo(
                label: localized("Save it again"), path: "\(Self.path)/\(type.name)",
                fields: ["name": name, "query": query])
        }
        return .redirect(to: ClassPages.path(of: type), notice: notice)
    }

    private static func name(_ request: PanelRequest) throws -> String {
        let name = (request.form["name"] ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !name.isEmpty, name.utf8.count <= maximumNameByteCount else {
            throw RequestFailure(
                .unprocessable, "A view needs a name of at most \(maximumNameByteCount) bytes.",
                hint: "Go back and give it one.")
        }
        return name
    }
}
