import PostgresClient
import TomboloModel

/// A draft event that a role's calls are tried on, inside or outside the role's scope. It has objects of each class to
/// read, change and delete.
struct CrawlSite {
    let role: String
    /// Nil for an anonymous caller.
    let token: String?
    let event = ObjectId.generate()
    /// Users who are assigned roles in the event, and one more.
    let holders = (0..<4).map { _ in ObjectId.generate() }
    let objects: [String: [ObjectId]]

    init(_ role: String, token: String?) {
        self.role = role
        self.token = token
        objects = Dictionary(
            uniqueKeysWithValues: CrawlKind.all.map { kind in (kind.name, (0..<3).map { _ in ObjectId.generate() }) })
    }

    func ids(_ kind: CrawlKind) -> [ObjectId] { objects[kind.name] ?? [event, event, event] }

    func insert(_ platform: Platform) async throws {
        try await platform.sql(
            """
            INSERT INTO event (_id, name, identifier, state, privacy, starts_at, ends_at)
            VALUES ($1, 'before', $2, 'draft', 'public', now(), now())
            """, [.bytea(event.bytes), .text(event.stringValue)])
        try await platform.sql(
            """
            INSERT INTO users (_id, display_name, email)
            SELECT decode(k, 'hex'), 'holder', k || '@example.org' FROM unnest($1::text[]) AS k
            """, [.textArray(holders.map(\.stringValue))])
        for kind in CrawlKind.all {
            var columns = ["_id", kind.column]
            var values = ["decode(k, 'hex')", "'\(kind.before)'"]
            if let unique = kind.unique {
                columns.append(unique)
                values.append("k || '@example.org'")
            }
            var parameters = [PostgresParameter.textArray(ids(kind).map(\.stringValue))]
            if kind.isOfEvent {
                columns.append("event")
                values.append("$2::bytea")
                parameters.append(.bytea(event.bytes))
            }
            var source = "unnest($1::text[]) AS o(k)"
            if kind.name == CrawlKind.assignment.name {
                columns.append(#""user""#)
                values.append("decode(h, 'hex')")
                source = "unnest($1::text[], $3::text[]) AS o(k, h)"
                parameters.append(.textArray(holders.prefix(3).map(\.stringValue)))
            }
            try await platform.sql(
                """
                INSERT INTO \(kind.table) (\(columns.joined(separator: ", ")))
                SELECT \(values.joined(separator: ", ")) FROM \(source)
                """, parameters)
        }
    }
}
