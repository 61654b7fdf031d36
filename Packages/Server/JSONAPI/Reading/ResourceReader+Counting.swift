package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
import TomboloSQL

extension ResourceReader {
    /// The number of resources that the caller may see and that satisfy a filter.
    /// - Parameter limit: where to stop: counting all of a large table takes long.
    package func count(
        _ type: ResourceType, matching filter: Predicate, limit: Int, _ pool: PostgresPool
    ) async throws -> Int {
        let counting = try counting(type, matching: filter, limit: limit)
        let statement = counting.statement
        if let total = try await answers?.total(statement) { return Int(total) }
        let beginning = answers?.begin()
        let total = try await pool.query(statement.sql, statement.parameters)[0, 0].int64
        if let beginning { answers?.keep(total, of: statement, counting.classNames, since: beginning) }
        return Int(total)
    }

    /// A statement that counts, and the classes whose rows the total depends on; nil if it may depend on those of any
    /// class.
    typealias Counting = (statement: PostgresStatement, classNames: Set<String>?)

    /// The statement that counts the resources that the caller may see and that satisfy a filter.
    /// - Parameter limit: where to stop; nil to count all.
    func counting(_ type: ResourceType, matching filter: Predicate, limit: Int? = nil) throws -> Counting {
        var builder = try SQLBuilder.resources(of: type, for: view)
        let condition = try builder.condition(visible: view.readable(type), asked: filter)
        let rows = """
            FROM \(PostgresSQL.quoteIdentifier(type.item.table)) AS "\(ResourcePlan.alias)"
            WHERE \(condition) AND \(RowReader.isIn(trash: false, type.item, alias: ResourcePlan.alias))
            """
        let statement = PostgresStatement(
            limit.map { "SELECT count(*) FROM (SELECT \(rows)\nLIMIT \($0)) AS \"counted\"" }
                ?? "SELECT count(*) \(rows)",
            try builder.parameters.map { try PostgresParameter($0) })
        return (statement, Self.looksElsewhere(condition) ? nil : [type.item.name])
    }

    /// Whether a condition may depend on rows of other classes: only if it has a SELECT of its own. Values are
    /// parameters, so they can't be mistaken for one.
    static func looksElsewhere(_ condition: String) -> Bool { condition.contains("SELECT") }
}
