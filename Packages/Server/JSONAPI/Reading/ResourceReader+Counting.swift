package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
import TomboloSQL

extension ResourceReader {
    /// How many of the resources that the caller may see satisfy a filter.
    /// - Parameter limit: further ones aren't counted: counting all of a large table takes long.
    package func count(
        _ type: ResourceType, matching filter: Predicate, limit: Int, _ pool: PostgresPool
    ) async throws -> Int {
        let counting = try counting(type, matching: filter, limit: limit)
        let answer = try await totals?.answer(counting)
        if case .known(let total)? = answer { return Int(total) }
        let total = try await pool.query(counting.sql, counting.parameters)[0, 0].int64
        if let answer { totals?.keep(total, of: counting, as: answer) }
        return Int(total)
    }

    /// The statement that counts the resources that the caller may see and that satisfy a filter.
    /// - Parameter limit: further ones aren't counted; nil to count all.
    func counting(_ type: ResourceType, matching filter: Predicate, limit: Int? = nil) throws -> KeptTotals.Question {
        var builder = try SQLBuilder.resources(of: type, for: view)
        let condition = try builder.condition(visible: view.readable(type), asked: filter)
        let rows = """
            FROM \(PostgresSQL.quoteIdentifier(type.item.table)) AS "\(ResourcePlan.alias)"
            WHERE \(condition) AND \(RowReader.isIn(trash: false, type.item, alias: ResourcePlan.alias))
            """
        // Values are parameters, so that other rows are looked at only where the condition has a SELECT of its own.
        let isOwn = !condition.contains("SELECT")
        return KeptTotals.Question(
            sql: limit.map { "SELECT count(*) FROM (SELECT \(rows)\nLIMIT \($0)) AS \"counted\"" }
                ?? "SELECT count(*) \(rows)",
            parameters: try builder.parameters.map { try PostgresParameter($0) },
            className: isOwn ? type.item.name : nil)
    }
}
