public import TomboloModel

extension Predicate {
    /// The predicate as a condition on rows of a class: TRUE or FALSE, never NULL, and equal to
    /// ``Predicate/evaluate(_:)`` on every row.
    /// - Parameters:
    ///   - alias: the name of the class's table in the statement, or nil for the table's own name.
    ///   - firstParameter: the number of the first placeholder, for PostgreSQL.
    /// - Throws: ``ValueError`` if the predicate doesn't fit the class.
    public func sql(
        _ dialect: SQLDialect, className: String, in schema: Schema, alias: String? = nil, firstParameter: Int = 1
    ) throws(ValueError) -> SQLFragment {
        var builder = try SQLBuilder(
            dialect, schema: schema, className: className, alias: alias, firstParameter: firstParameter)
        let condition = try builder.condition(self)
        return SQLFragment(sql: condition, parameters: builder.parameters)
    }
}
