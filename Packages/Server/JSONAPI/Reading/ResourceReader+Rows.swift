package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
import TomboloSQL
import TomboloLocalization

extension ResourceReader {
    /// The rows of the resources that the caller may see and that satisfy a filter, for the `FROM` of another
    /// statement.
    /// - Parameter names: the fields to select, which also name the columns: fields with a single value, links (null if
    ///   the target is in the trash), and `id`.
    /// - Throws: ``RequestFailure`` with status 400 for a field that the caller can't see, or that isn't a single
    ///   value.
    package func rows(
        of type: ResourceType, _ names: [String], matching filter: Predicate
    ) throws -> PostgresStatement {
        let columns = try names.map { name in
            let expression =
                name == "id" ? ResourcePlan(type, for: view, fields: []).columns[0] : try column(name, of: type)
            return "\(expression) AS \(PostgresSQL.quoteIdentifier(name))"
        }
        var builder = try SQLBuilder.resources(of: type, for: view)
        let condition = try builder.condition(visible: view.readable(type), asked: filter)
        return PostgresStatement(
            """
            SELECT \(columns.joined(separator: ", "))
            FROM \(PostgresSQL.quoteIdentifier(type.item.table)) AS "\(ResourcePlan.alias)"
            WHERE \(condition) AND \(RowReader.isIn(trash: false, type.item, alias: ResourcePlan.alias))
            """, try builder.parameters.map { try PostgresParameter($0) })
    }

    /// The expression that selects a field.
    private func column(_ name: String, of type: ResourceType) throws -> String {
        let known = view.fields(of: type).filter(\.isOneValue)
        guard known.contains(where: { $0.name == name }) else {
            throw RequestFailure(
                .badRequest,
                localized("\(type.name) have no field '\(name.shortened(toByteCount: 60))' with one value."),
                hint: ResourceQuery.nearest(name, known.map(\.name)).localized)
        }
        return ResourcePlan(type, for: view, fields: [name]).columns[1]
    }
}

extension ResourceField {
    fileprivate var isOneValue: Bool {
        switch content {
        case .value, .toOne: true
        case .array, .embedded, .values, .objects, .toMany: false
        }
    }
}
