internal import TomboloModel
internal import TomboloSQL
internal import TomboloSQLiteStore

extension RealmCore {
    /// Those of these rows that a query finds, in the query's order.
    func rowIDs(_ query: ObjectQuery, among rows: RowIDSet) -> [Int64] {
        // CROSS JOIN keeps SQLite from looking at other rows first:
        // <https://www.sqlite.org/optoverview.html#manual_control_of_query_plans_using_cross_join>
        run(
            query,
            sql: {
                "SELECT o.rowid FROM json_each(?) AS r CROSS JOIN \($0) AS o ON o.rowid = r.value "
                    + "WHERE \($1) ORDER BY \($2)"
            }, [.string(rows.json)])
    }

    /// Reads the sort keys of single rows.
    func sortKeys(_ query: ObjectQuery) -> SortKeys {
        let keys = usable(query) { builder throws(ValueError) in
            var keys: [(sql: String, isAscending: Bool)] = []
            for sort in query.sorts { keys += try builder.sortKeys(sort.path).map { ($0.sql, sort.isAscending) } }
            return keys
        }
        let table = layout.tables[query.classIndex].table
        return SortKeys(
            self, "SELECT \(keys.map(\.sql).joined(separator: ", ")) FROM \(table) AS o WHERE o.rowid = ?",
            isAscending: keys.map(\.isAscending))
    }

    private func run(
        _ query: ObjectQuery, sql: (_ table: String, _ condition: String, _ order: String) -> String,
        _ leading: [Value]
    ) -> [Int64] {
        let (text, parameters, lists) = usable(query) { builder throws(ValueError) in
            let condition = try builder.condition(query.predicate)
            let order = query.sorts.isEmpty ? "" : try builder.orderBy(query.sorts) + ", "
            let text = sql(layout.tables[query.classIndex].table, condition, order + "o.rowid")
            return (text, builder.parameters.map(\.value), builder.lists)
        }
        return self.query {
            if !lists.isEmpty { try LiteralLists.fill(lists, on: connection) }
            return try rowIDs(text, leading + parameters)
        }
    }

    private func usable<Result>(
        _ query: ObjectQuery, _ body: (inout SQLBuilder) throws(ValueError) -> Result
    ) -> Result {
        let className = schema[query.classIndex].name
        do {
            var builder = try SQLBuilder(.sqlite, schema: schema, className: className, alias: "o")
            builder.listTable = LiteralLists.table
            return try body(&builder)
        } catch {
            // The program supplies names and types, and every literal that its users can enter is accepted. So this is
            // a programming mistake.
            programError("The query on \(className) cannot be used: \(error)")
        }
    }
}
