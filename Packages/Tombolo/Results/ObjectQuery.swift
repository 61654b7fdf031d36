internal import TomboloModel
internal import TomboloSQL
internal import TomboloSQLiteStore

/// Which objects of a class, in which order. Objects that nothing tells apart come in the order of their insertion.
struct ObjectQuery: Hashable, Sendable {
    var classIndex: Int
    var predicate: Filter = .constant(true)
    var sorts: [SQLSort] = []

    /// Whether other classes' rows decide too.
    var followsLinks: Bool {
        predicate.looksFurther || sorts.contains { $0.path.names.count > 1 }
    }
}

extension RealmCore {
    func keys(_ query: ObjectQuery, limit: Int? = nil) -> [Value] {
        let table = layout.tables[query.classIndex]
        return run(query, selecting: "o.\(table.key)", limit: limit) { statement in
            var keys: [Value] = []
            while try statement.step() { keys.append(statement.value(at: 0, as: table.keyType)) }
            return keys
        }
    }

    func count(_ query: ObjectQuery) -> Int {
        var query = query
        query.sorts = []
        return run(query, selecting: "count(*)", limit: nil, ordered: false) { statement in
            try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    private func run<Result>(
        _ query: ObjectQuery, selecting: String, limit: Int?, ordered: Bool = true,
        _ read: (SQLiteStatement) throws -> Result
    ) -> Result {
        let className = schema[query.classIndex].name
        do {
            var builder = try SQLBuilder(.sqlite, schema: schema, className: className, alias: "o")
            builder.listTable = LiteralLists.table
            let predicate = query.predicate
            var sql = "SELECT \(selecting) FROM \(layout.tables[query.classIndex].table) AS o"
            if predicate != .constant(true) { sql += " WHERE \(try builder.condition(predicate))" }
            if ordered { sql += " ORDER BY \(try order(query, &builder))o.rowid" }
            if let limit { sql += " LIMIT \(limit)" }
            let (parameters, lists) = (builder.parameters, builder.lists)
            return self.query {
                if !lists.isEmpty { try LiteralLists.fill(lists, on: connection) }
                let statement = try connection.statement(sql)
                defer { statement.reset() }
                for (index, parameter) in parameters.enumerated() { statement.bind(parameter.value, at: index + 1) }
                return try read(statement)
            }
        } catch {
            // Names and types come from the program; literals that its users may enter are all accepted.
            programError("The query on \(className) cannot be used: \(error)")
        }
    }

    private func order(_ query: ObjectQuery, _ builder: inout SQLBuilder) throws(ValueError) -> String {
        query.sorts.isEmpty ? "" : try builder.orderBy(query.sorts) + ", "
    }
}
