internal import TomboloModel
internal import TomboloSQL
internal import TomboloSQLiteStore

/// Selects and orders a class's rows. Rows that nothing else orders come in insertion order.
struct ObjectQuery: Hashable, Sendable {
    /// An object class, or the element class of a list whose elements are queried.
    var classIndex: Int
    var predicate: Filter = .constant(true)
    var sorts: [SQLSort] = []
    /// Restricts the query to a list's elements or the objects they point to, in list order unless sorted; or to the
    /// objects whose lists contain a given object. An object that is in a list twice is found twice.
    var source: ListSource?
    /// Each keeps the first row of every set of equal values of some properties. They apply in turn. Conditions always
    /// apply before them, even those added later.
    var distincts: [Distinct] = []

    struct ListSource: Hashable, Sendable {
        var elementClass: Int
        /// The key of the object, or the ID of the element, that owns the list. If `isBackwards`, the key of the object
        /// that the lists' elements point to.
        var parent: Value
        var parentType: PropertyType
        var isBackwards = false
    }

    /// The properties, with the order at the time of the call.
    struct Distinct: Hashable, Sendable {
        var paths: [PropertyPath]
        var sorts: [SQLSort]
    }

    /// Whether a row and the rows it links to are enough to decide if the row is included.
    var isByRow: Bool { source == nil && distincts.isEmpty }

    /// Whether other rows also decide if a row is included.
    var followsLinks: Bool {
        !isByRow || predicate.looksFurther || sorts.contains { $0.path.names.count > 1 }
    }
}

extension RealmCore {
    /// The rowids found by the query, in order.
    /// - Parameter isReversed: whether to reverse the order.
    func rowids(_ query: ObjectQuery, limit: Int? = nil, isReversed: Bool = false) -> [Int64] {
        run(query, selecting: "o.rowid", limit: limit, order: isReversed ? .descending : .ascending) { statement in
            var rowids: [Int64] = []
            while try statement.step() { rowids.append(statement.integer(at: 0)) }
            return rowids
        }
    }

    func count(_ query: ObjectQuery) -> Int {
        run(query, selecting: "count(*)", limit: nil, order: nil) { statement in
            try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    /// A statement that reads the rowid and all columns of the found rows; the caller owns it. If the query put
    /// literals into the connection's table, which the next query reuses, the rowids are returned instead.
    func open(_ query: ObjectQuery) -> (SQLiteStatement?, [Int64]) {
        let names = ["rowid"] + classes[query.classIndex].table.columnNames
        let selecting = names.map { "o.\($0)" }.joined(separator: ", ")
        let text = text(query, limit: nil, order: .ascending) { _ in "SELECT \(selecting)" }
        guard text.lists.isEmpty else { return (nil, rowids(query)) }
        return self.query {
            let statement = try connection.borrowStatement(text.sql)
            for (index, parameter) in text.parameters.enumerated() { statement.bind(parameter.value, at: index + 1) }
            return (statement, [])
        }
    }

    /// Deletes the found rows, regardless of what depends on them.
    func runDeletion(_ query: ObjectQuery) throws {
        let text =
            query.isByRow
            ? text(query, limit: nil, order: nil) { _ in "DELETE" }
            : text(query, limit: nil, order: nil) { _ in "SELECT o.rowid" }
        if !text.lists.isEmpty { try LiteralLists.fill(text.lists, on: connection) }
        let statement = try connection.statement(
            query.isByRow
                ? text.sql : "DELETE FROM \(layout.tables[query.classIndex].table) WHERE rowid IN (\(text.sql))")
        for (index, parameter) in text.parameters.enumerated() { statement.bind(parameter.value, at: index + 1) }
        try statement.run()
    }

    private func run<Result>(
        _ query: ObjectQuery, selecting: String, limit: Int?, order: RowDirection?,
        _ read: (SQLiteStatement) throws -> Result
    ) -> Result {
        run(text(query, limit: limit, order: order) { _ in "SELECT \(selecting)" }, read)
    }

    private func run<Result>(_ text: QueryText, _ read: (SQLiteStatement) throws -> Result) -> Result {
        self.query {
            if !text.lists.isEmpty { try LiteralLists.fill(text.lists, on: connection) }
            let statement = try connection.statement(text.sql)
            defer { statement.reset() }
            for (index, parameter) in text.parameters.enumerated() { statement.bind(parameter.value, at: index + 1) }
            return try read(statement)
        }
    }

    /// An aggregate computed by SQLite over the found rows. Stops the program if the property has no such aggregate.
    func aggregate(_ aggregate: FilterOperand.Aggregate, _ path: PropertyPath, _ query: ObjectQuery) -> Value {
        var type = PropertyType.double
        let text = text(query, limit: nil, order: nil) { builder throws(ValueError) in
            let result = try builder.aggregate(aggregate, of: path)
            type = result.type
            return "SELECT \(result.sql)"
        }
        return run(text) { statement in try statement.step() ? statement.value(at: 0, as: type) : .null }
    }

    /// - Parameters:
    ///   - order: nil for any order.
    ///   - beginning: `DELETE`, or `SELECT` with its columns.
    private func text(
        _ query: ObjectQuery, limit: Int?, order direction: RowDirection?,
        beginning: (SQLBuilder) throws(ValueError) -> String
    ) -> QueryText {
        let className = schema[query.classIndex].name
        do {
            var builder = try SQLBuilder(.sqlite, schema: schema, className: className, alias: "o")
            builder.listTable = LiteralLists.table
            let beginning = try beginning(builder)
            var sql = "\(beginning) FROM \(tables(query))"
            var condition = try condition(query, query.distincts[...], &builder)
            // Without a condition SQLite doesn't report which rows it deletes.
            if condition.isEmpty, beginning == "DELETE" { condition = "TRUE" }
            if !condition.isEmpty { sql += " WHERE \(condition)" }
            if let direction { sql += " ORDER BY \(try order(query, query.sorts, direction, builder))" }
            if let limit { sql += " LIMIT \(limit)" }
            return QueryText(sql: sql, parameters: builder.parameters, lists: builder.lists)
        } catch {
            // The program supplies names and types, and every literal that its users can enter is accepted. So this is
            // a programming mistake.
            programError("The query on \(className) cannot be used: \(error)")
        }
    }

    /// The rows are `o`; the elements of the query's list are `e`.
    private func tables(_ query: ObjectQuery) -> String {
        let table = layout.tables[query.classIndex]
        guard let source = query.source else { return "\(table.table) AS o" }
        let elements = layout.tables[source.elementClass]
        let column = elements.columnNames[source.isBackwards ? ElementColumn.owner : ElementColumn.target]
        let isElement = source.elementClass == query.classIndex
        return "\(elements.table) AS e JOIN \(table.table) AS o ON "
            + (isElement ? "o.rowid = e.rowid" : "o.\(table.key) = e.\(column)")
    }

    private func order(
        _ query: ObjectQuery, _ sorts: [SQLSort], _ direction: RowDirection, _ builder: SQLBuilder
    ) throws(ValueError) -> String {
        let isReversed = direction == .descending
        let sorts = isReversed ? sorts.map { SQLSort($0.path, ascending: !$0.isAscending) } : sorts
        let end =
            query.source.map { $0.isBackwards ? "o.rowid, e.rowid" : layout.tables[$0.elementClass].elementOrder }
            ?? "o.rowid"
        return (sorts.isEmpty ? "" : try builder.orderBy(sorts) + ", ")
            + (isReversed ? end.split(separator: ", ").map { "\($0) DESC" }.joined(separator: ", ") : end)
    }

    /// - Parameter distincts: the ones to apply.
    private func condition(
        _ query: ObjectQuery, _ distincts: ArraySlice<ObjectQuery.Distinct>, _ builder: inout SQLBuilder
    ) throws(ValueError) -> String {
        guard let distinct = distincts.last else {
            var conditions: [String] = []
            if let source = query.source {
                _ = builder.bind(source.parent, source.parentType)
                let elements = layout.tables[source.elementClass]
                conditions.append(
                    source.isBackwards
                        ? "e.\(elements.columnNames[ElementColumn.target]) = ?" : elements.childCondition)
            }
            if query.predicate != .constant(true) { conditions.append(try builder.condition(query.predicate)) }
            return conditions.joined(separator: " AND ")
        }
        // The first rows among those with equal values.
        let row = query.source == nil ? "o.rowid" : "e.rowid"
        let number = try builder.distinctNumber(
            distinct.paths, orderBy: order(query, distinct.sorts, .ascending, builder))
        var conditions = [try condition(query, distincts.dropLast(), &builder)].filter { !$0.isEmpty }
        for path in distinct.paths { conditions += [try builder.arrives(at: path)].compactMap { $0 } }
        let inner = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
        let rows = "SELECT \(row) AS r, \(number) AS n FROM \(tables(query))\(inner)"
        return "\(row) IN (SELECT r FROM (\(rows)) WHERE n = 1)"
    }
}

/// The direction in which a query's order is read.
private enum RowDirection {
    case ascending
    case descending
}

/// A statement with its parameters, and the lists of literals that are too long to bind.
private struct QueryText {
    let sql: String
    let parameters: [SQLParameter]
    let lists: [[Value]]
}
