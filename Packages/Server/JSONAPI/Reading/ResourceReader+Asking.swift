package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
package import TomboloRules

extension ResourceReader {
    /// Why the caller may not perform an operation on an object in its current state; nil if they may.
    /// - Throws: ``RequestFailure`` with status 404 for an object that the caller can't see.
    package func refusal(
        _ operation: TomboloRules.Operation, _ type: ResourceType, key: Value, _ pool: PostgresPool
    ) async throws -> Decision.Denial? {
        if let denial = view.refusal(operation, type) { return denial }
        let plan = ResourcePlan(type, for: view, fields: [])
        let columns = type.item.columns.map { PostgresSQL.quoteIdentifier(ResourcePlan.alias, $0.sqlName) }
        let statement = try statement(
            plan, matching: isKey(key, of: type), extra: columns, limit: 1)
        guard let source = try await pool.query(statement.sql, statement.parameters).first else {
            throw JSONAPIRoutes.noSuchResource(type)
        }
        let row = Row(
            try type.item.columns.enumerated().map { index, column in
                try source[plan.columns.count + index].value(of: view.schema.storedType(of: column))
            })
        let resource = TomboloRules.Resource.object(classIndex: type.classIndex, old: row, new: row)
        guard case .denied(let denial) = view.rules.authorize(view.subject, operation, resource) else { return nil }
        return denial
    }
}
