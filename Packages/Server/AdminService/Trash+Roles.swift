import PostgresClient
import TomboloModel
package import TomboloRules

extension Trash {
    /// Whether the objects in the trash at an address include objects that give roles.
    package func givesRoles(at address: TrashAddress, under rules: Rules) async throws -> Bool {
        let names = Set(rules.grantColumns.map { rules.schema[$0.classIndex].name })
        for item in classes where names.contains(item.name) {
            guard let (column, value) = try address.condition(item) else { continue }
            let found = try await pool.query(
                """
                SELECT 1 FROM \(PostgresSQL.quoteIdentifier(item.table)) "o"
                WHERE o.\(column) = $1 AND o.trashed_at IS NOT NULL LIMIT 1
                """, [value])
            if !found.isEmpty { return true }
        }
        return false
    }
}
