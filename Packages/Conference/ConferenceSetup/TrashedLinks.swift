import PostgresClient
import TomboloPostgresStore

/// The links that don't take an object into the trash along with their target: a session stays when its track or room
/// goes, a speaker when their account goes, and an order when its ticket or its buyer's account goes. Everything else
/// goes along with what it links to.
enum TrashedLinks {
    private static let staying = [
        ("Session", "track"), ("Session", "room"), ("Speaker", "user"), ("Order", "ticket"), ("Order", "buyer"),
    ]

    private static let list = staying.map {
        "(\(PostgresSQL.quoteLiteral($0)), \(PostgresSQL.quoteLiteral($1)))"
    }.joined(separator: ", ")

    /// The steps that are still missing.
    static func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        if live.systemRelations.contains("class_column.goes_along") {
            let found = try await connection.query(
                """
                SELECT count(*) FROM tombolo.class_column k JOIN tombolo.class c ON c.id = k.class
                WHERE (c.name, k.name) IN (\(list)) AND NOT k.goes_along
                """)
            if try found[0, 0].int == staying.count { return [] }
        }
        return [
            SchemaStep(
                name: "links that keep objects out of the trash",
                sql: """
                    UPDATE tombolo.class_column k SET goes_along = false FROM tombolo.class c
                    WHERE c.id = k.class AND (c.name, k.name) IN (\(list)) AND k.goes_along
                    """)
        ]
    }
}
