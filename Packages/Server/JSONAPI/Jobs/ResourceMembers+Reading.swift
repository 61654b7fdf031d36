import Foundation
import PostgresClient
import TomboloHTTP
import TomboloModel

extension ResourceReader {
    /// Members of a resource as the caller sees it. The resource stays locked for the transaction.
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
    /// - Throws: ``RequestFailure`` if some of the lists to change are missing here, or in their embedded objects: they
    ///   have more elements than a resource shows, so no undo could restore them.
    func checkHave(_ change: ResourceChange) throws {
        let lists = unshownLists(of: change.fields).filter { change.writesList($0.key) }
        guard let name = lists.values.min() else { return }
        throw RequestFailure(
            .unprocessable,
            Wording(
                "'\(name)' has more than \(ResourcePlan.maximumElementCount) elements, so "
                    + "the change couldn't be undone."
            ),
            hint: Wording("Change it by itself, not together with others."))
    }

    init(_ resource: ResourceReader.Resource, named names: Set<String>) throws {
        var bytes = JSONBytes()
        bytes.namesInfinity = true
        try resource.plan.append(resource.row, to: &bytes)
        self.init(try JSONDecoder().decode(JSON.self, from: Data(bytes.bytes)), named: names)
    }
}
