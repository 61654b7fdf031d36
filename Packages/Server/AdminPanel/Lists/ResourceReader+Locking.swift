import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

extension ResourceReader {
    enum Lock: String {
        /// Keeps others from changing them.
        case share = "FOR SHARE"
        /// Keeps others from locking them, too.
        case update = "FOR UPDATE"
    }

    /// Objects of a class as the caller sees them, locked until the transaction ends: in the order of their keys, so that no
    /// two transactions wait for each other.
    nonisolated(nonsending) func locked(
        _ type: ResourceType, matching filter: Predicate, _ lock: Lock, limit: Int, _ connection: PostgresConnection
    ) async throws -> [PanelResource] {
        let plan = ResourcePlan(type, for: view)
        let order = ResourceQuery.Sort(column: type.key, type: type.keyType, isAscending: true)
        let statement = try statement(
            plan, matching: filter, orderBy: [order], limit: limit,
            locking: "\(lock.rawValue) OF \"\(ResourcePlan.alias)\"")
        return try await connection.query(statement.sql, statement.parameters).map { row in
            try PanelResource(Resource(plan: plan, row: row))
        }
    }
}
