import Foundation
import PostgresClient
import TomboloHTTP
import TomboloModel

extension ResourceReader {
    /// Members of a resource as the caller sees it, which stays locked for the transaction.
    /// - Returns: nil if the caller can see no such resource.
    func lockedMembers(
        _ names: Set<String>, of type: ResourceType, key: Value, _ connection: PostgresConnection
    ) async throws -> ResourceMembers? {
        let plan = ResourcePlan(type, for: view, fields: names)
        let statement = try statement(
            plan, matching: isKey(key, of: type), limit: 1,
            locking: "FOR UPDATE OF \"\(ResourcePlan.alias)\"")
        guard let row = try await connection.query(statement.sql, statement.parameters).first else { return nil }
        return try ResourceMembers(Resource(plan: plan, row: row), named: names)
    }
}

extension ResourceMembers {
    init(_ resource: ResourceReader.Resource, named names: Set<String>) throws {
        var bytes = JSONBytes()
        try resource.plan.append(resource.row, to: &bytes)
        self.init(try JSONDecoder().decode(JSON.self, from: Data(bytes.bytes)), named: names)
    }
}
