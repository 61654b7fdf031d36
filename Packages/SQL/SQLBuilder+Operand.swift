internal import TomboloModel

extension SQLBuilder {
    /// What a path stands for in SQL.
    struct Operand {
        let sql: String
        /// The stored type: that of the target's key for a link. Integers count as 64-bit, for their literals may lie
        /// outside a narrower range.
        let type: PropertyType
        /// Whether it can be NULL.
        let isOptional: Bool
        /// A column of the row itself, which an index may serve.
        let isColumn: Bool
    }

    func operand(_ path: PropertyPath) throws(ValueError) -> Operand {
        var columns: [(item: ClassSchema, column: Column)] = []
        var item = schema[className]
        for name in path.names {
            guard let current = item, let index = current.columnIndex(name) else {
                throw ValueError("\(className) has no property at '\(path)'.")
            }
            let column = current.columns[index]
            columns.append((current, column))
            item = column.linkTarget.flatMap { schema[$0] }
        }
        guard let last = columns.last else { throw ValueError("An expression on \(className) has an empty path.") }
        var type = schema.storedType(of: last.column)
        if case .int = type { type = .int(bits: 64) }
        let start = "\(dialect.quoted(alias)).\(dialect.quoted(columns[0].column.sqlName))"
        if columns.count == 1 {
            return Operand(sql: start, type: type, isOptional: last.column.isOptional, isColumn: true)
        }
        return Operand(
            sql: try subquery(columns, from: start), type: type, isOptional: true, isColumn: false)
    }

    /// `(SELECT "link1"."name" FROM "room" AS "link1" WHERE "link1"."_id" = "session"."room")`
    private func subquery(
        _ columns: [(item: ClassSchema, column: Column)], from start: String
    ) throws(ValueError) -> String {
        var tables: [String] = []
        var conditions: [String] = []
        var reference = start
        for (depth, step) in columns.enumerated().dropFirst() {
            guard let key = step.item.primaryKey else {
                throw ValueError("\(step.item.name) has no primary key and cannot be linked to.")
            }
            let table = dialect.quoted(linkAlias(depth))
            tables.append("\(dialect.quoted(step.item.table)) AS \(table)")
            conditions.append("\(table).\(dialect.quoted(key.sqlName)) = \(reference)")
            reference = "\(table).\(dialect.quoted(step.column.sqlName))"
        }
        return "(SELECT \(reference) FROM \(tables.joined(separator: ", ")) "
            + "WHERE \(conditions.joined(separator: " AND ")))"
    }

    /// Differs from the statement's own alias, whatever that is.
    private func linkAlias(_ depth: Int) -> String { alias == "link\(depth)" ? "link\(depth)_" : "link\(depth)" }
}
