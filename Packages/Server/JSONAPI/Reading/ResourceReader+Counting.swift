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
        let statement = counting.statement
        if let total = try await answers?.total(statement) { return Int(total) }
        let beginning = answers?.begin()
        let total = try await pool.query(statement.sql, statement.parameters)[0, 0].int64
        if let beginning { answers?.keep(total, of: statement, counting.classNames, since: beginning) }
        return Int(total)
    }

    /// A statement that counts, and the classes whose rows decide about the number; nil if those of any class may.
    typealias Counting = (statement: PostgresStatement, classNames: Set<String>?)

    /// The statement that counts the resources that the caller may see and that satisfy a filter.
    /// - Parameter limit: further ones aren't counted; nil to count all.
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

    /// Whether rows of other classes may decide if a condition is true. Values are parameters, so that they're looked at only
    /// where it has a SELECT of its own.
    static func looksElsewhere(_ condition: String) -> Bool { condition.contains("SELECT") }
}
