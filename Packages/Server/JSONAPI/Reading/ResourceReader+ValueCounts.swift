package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
import TomboloLocalization

extension ResourceReader {
    /// How many resources have each of some values.
    package struct ValueCounts: Sendable {
        /// Leaves out values that no resource has.
        package private(set) var counts: [Value: Int] = [:]
        /// How many resources have no visible value: a link to something in the trash counts as none.
        package private(set) var none = 0
        /// How many resources have any other value.
        package private(set) var others = 0

        fileprivate init(_ result: PostgresResult, of type: PropertyType) throws {
            for row in result {
                let (value, isNull, count) = (try row[0].value(of: type), try row[1].bool, try row[2].int)
                if isNull { none = count } else if value.isNull { others = count } else { counts[value] = count }
            }
        }
    }

    /// Counts, for each of some values of a field, the resources that the caller may see and that satisfy a filter.
    /// - Parameters:
    ///   - field: a field with a single value, or a link, whose values are the keys of its targets.
    ///   - values: not null. Resources with other values are counted together, so that the answer is at most as long as
    ///     this list.
    /// - Throws: ``RequestFailure`` with status 400 for a field that the caller can't see, or that isn't a single
    ///   value.
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
