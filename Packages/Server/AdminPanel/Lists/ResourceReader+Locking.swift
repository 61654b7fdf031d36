import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

extension ResourceReader {
    enum Lock: String {
        /// Prevents others from changing the rows.
        case share = "FOR SHARE"
        /// Prevents others from locking the rows, too.
        case update = "FOR UPDATE"
    }

    /// Locks objects of a class until the transaction ends, and returns them as the caller sees them. It locks them in
    /// key order, so that transactions can't deadlock.
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
