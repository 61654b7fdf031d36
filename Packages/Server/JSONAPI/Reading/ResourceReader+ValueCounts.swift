package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
import TomboloLocalization

extension ResourceReader {
    /// How many resources have each of some values.
    package struct ValueCounts: Sendable {
        /// Without values that no resource has.
        package private(set) var counts: [Value: Int] = [:]
        /// Resources without a value, as they are shown: a link to something in the trash leads nowhere.
        package private(set) var none = 0
        /// Resources with any other value.
        package private(set) var others = 0

        fileprivate init(_ result: PostgresResult, of type: PropertyType) throws {
            for row in result {
                let (value, isNull, count) = (try row[0].value(of: type), try row[1].bool, try row[2].int)
                if isNull { none = count } else if value.isNull { others = count } else { counts[value] = count }
            }
        }
    }

    /// How many of the resources that the caller may see and that satisfy a filter have each of some values of a field.
    /// - Parameters:
    ///   - field: one with one value, or a link, whose values are the keys of what it leads to.
    ///   - values: not null. Resources with others are counted together, so that the answer is as long as this list at most.
    /// - Throws: ``RequestFailure`` with status 400 for a field that the caller can't see, or that isn't one value.
    package func counts(
        _ type: ResourceType, of field: ResourceField, among values: [Value], matching filter: Predicate,
        _ pool: PostgresPool
    ) async throws -> ValueCounts {
        var statement = try rows(of: type, [field.name], matching: filter)
        guard let column = field.column else {
            throw RequestFailure(
                .badRequest, localized("'\(field.name)' has several values."),
                hint: localized("Count by a field with one."))
        }
        let stored = view.schema.storedType(of: type.item.columns[column])
        let name = PostgresSQL.quoteIdentifier(field.name)
        statement.parameters.append(try PostgresParameter(list: values, of: stored))
        statement.sql = """
            SELECT CASE WHEN \(name) = ANY ($\(statement.parameters.count)) THEN \(name) END, \(name) IS NULL, count(*)
            FROM (\(statement.sql)) AS "counted" GROUP BY 1, 2
            """
        return try ValueCounts(try await pool.query(statement.sql, statement.parameters), of: stored)
    }
}
