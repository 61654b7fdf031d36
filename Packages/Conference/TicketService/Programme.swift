import EventModels
import PostgresClient
import TomboloHTTP
import TomboloModel
import TomboloRules

/// The sessions of an event, as shown to logged-in users.
struct Programme: Sendable {
    private let schema: Schema
    private let sessions: ClassTable<Session>
    private let pool: PostgresPool

    init(schema: Schema, pool: PostgresPool) throws {
        self.schema = schema
        self.pool = pool
        sessions = try ClassTable(schema)
    }

    /// Sorted by start and title, with the keys in their lists, and with `"truncated": true` if there are more than
    /// ``RowReader/rowLimit``.
    /// - Throws: ``RequestFailure`` with status 404 for an event that the caller may not read.
    func json(event: ObjectId, _ grant: ObjectsGrant) async throws -> JSON {
        try await RowReader(schema: schema, pool: pool).snapshot { reader in
            _ = try await reader.readable("Event", id: event, by: grant.subject, under: grant.rules)
            // Limits only the list; the event itself may be longer.
            return try await PostgresResultLimit.$bytes.withValue(HTTPLimits.listByteCount) {
                try await list(event: event, grant, reader)
            }
        }
    }

    private func list(event: ObjectId, _ grant: ObjectsGrant, _ reader: RowReader) async throws -> JSON {
        let ofEvent = Predicate.compare(PropertyPath(of: \Session.event), .equal, .objectId(event))
        let rows = try await reader.objects(
            sessions, matching: .and([ofEvent, grant.filter]), sortedBy: [\.startsAt, \.title])
        var lists: [String: [Value: [Value]]] = [:]
        for list in sessions.item.lists {
            lists[list.name] = try await reader.list(
                list.name, of: sessions.item.name, owners: rows.map(\.key))
        }
        let shown = rows.map { row -> JSON in
            guard case .object(var members) = JSON(row.row, of: sessions.item) else { return .null }
            for (name, targets) in lists { members[name] = .array((targets[row.key] ?? []).map { JSON($0) }) }
            return .object(members)
        }
        let content: [String: JSON] = ["event": .string(event.stringValue), "sessions": .array(shown)]
        return .object(
            rows.count < RowReader.rowLimit ? content : content.merging(["truncated": true]) { $1 })
    }
}
