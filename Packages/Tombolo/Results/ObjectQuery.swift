internal import TomboloModel
internal import TomboloSQL
internal import TomboloSQLiteStore

/// Which objects of a class, in which order. Objects that nothing tells apart come in the order of their insertion.
struct ObjectQuery: Hashable, Sendable {
    var classIndex: Int
    var predicate: Filter = .constant(true)
    var sorts: [SQLSort] = []
    /// Only the objects of a list, in its order where nothing sorts them.
    var source: ListSource?
    /// Only the first of those that are equal in some properties.
    var distincts: [Distinct] = []

    struct ListSource: Hashable, Sendable {
        var elementClass: Int
        /// The key of the object, or the id of the element, that has the list.
        var parent: Value
        var parentType: PropertyType
    }

    /// With the condition and the order that held when it was asked for.
    struct Distinct: Hashable, Sendable {
        var paths: [PropertyPath]
        var predicate: Filter
        var sorts: [SQLSort]
    }

    /// Whether a row belongs can be told by the row and those that it links to.
    var isByRow: Bool { source == nil && distincts.isEmpty }

    /// Whether other rows decide too.
    var followsLinks: Bool {
        !isByRow || predicate.looksFurther || sorts.contains { $0.path.names.count > 1 }
    }
}

extension RealmCore {
    /// The rowids of what the query finds, in its order.
    func rowids(_ query: ObjectQuery, limit: Int? = nil) -> [Int64] {
        run(query, selecting: "o.rowid", limit: limit) { statement in
            var rowids: [Int64] = []
            while try statement.step() { rowids.append(statement.integer(at: 0)) }
            return rowids
        }
    }

    func count(_ query: ObjectQuery) -> Int {
        var query = query
        query.sorts = []
        return run(query, selecting: "count(*)", limit: nil, ordered: false) { statement in
            try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    /// A statement of the caller's own that reads the rowid and all columns of what the query finds. Where literals lie
    /// in a table of the connection, which the next query uses too, the rowids instead.
    func open(_ query: ObjectQuery) -> (SQLiteStatement?, [Int64]) {
        let names = ["rowid"] + classes[query.classIndex].table.columnNames
        let text = text(query, selecting: names.map { "o.\($0)" }.joined(separator: ", "), limit: nil, ordered: true)
        guard text.lists.isEmpty else { return (nil, rowids(query)) }
        return self.query {
            let statement = try connection.borrowStatement(text.sql)
            for (index, parameter) in text.parameters.enumerated() { statement.bind(parameter.value, at: index + 1) }
            return (statement, [])
        }
    }

    /// Deletes what the query finds, whatever hangs on it.
    func runDeletion(_ query: ObjectQuery) throws {
        let text = text(query, beginning: "DELETE", limit: nil, ordered: false)
        if !text.lists.isEmpty { try LiteralLists.fill(text.lists, on: connection) }
        let statement = try connection.statement(text.sql)
        for (index, parameter) in text.parameters.enumerated() { statement.bind(parameter.value, at: index + 1) }
        try statement.run()
    }

    func run<Result>(
        _ query: ObjectQuery, selecting: String, limit: Int?, ordered: Bool = true,
        _ read: (SQLiteStatement) throws -> Result
    ) -> Result {
        let text = text(query, selecting: selecting, limit: limit, ordered: ordered)
        return self.query {
            if !text.lists.isEmpty { try LiteralLists.fill(text.lists, on: connection) }
            let statement = try connection.statement(text.sql)
            defer { statement.reset() }
            for (index, parameter) in text.parameters.enumerated() { statement.bind(parameter.value, at: index + 1) }
            return try read(statement)
        }
    }

    private func text(_ query: ObjectQuery, selecting: String, limit: Int?, ordered: Bool) -> QueryText {
        text(query, beginning: "SELECT \(selecting)", limit: limit, ordered: ordered)
    }

    private func text(_ query: ObjectQuery, beginning: String, limit: Int?, ordered: Bool) -> QueryText {
        let className = schema[query.classIndex].name
        do {
            var builder = try SQLBuilder(.sqlite, schema: schema, className: className, alias: "o")
            builder.listTable = LiteralLists.table
            var sql = "\(beginning) FROM \(layout.tables[query.classIndex].table) AS o"
            var conditions = try query.distincts.map { try condition($0, query, &builder) }
            if let source = query.source { conditions.append(condition(source, query, &builder)) }
            if query.predicate != .constant(true) { conditions.append(try builder.condition(query.predicate)) }
            // Without any condition SQLite does not tell which rows it deletes.
            if conditions.isEmpty, beginning == "DELETE" { conditions = ["TRUE"] }
            if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
            if ordered { sql += " ORDER BY \(try order(query, &builder))o.rowid" }
            if let limit { sql += " LIMIT \(limit)" }
            return QueryText(sql: sql, parameters: builder.parameters, lists: builder.lists)
        } catch {
            // Names and types come from the program; literals that its users may enter are all accepted.
            programError("The query on \(className) cannot be used: \(error)")
        }
    }

    private func order(_ query: ObjectQuery, _ builder: inout SQLBuilder) throws(ValueError) -> String {
        if !query.sorts.isEmpty { return try builder.orderBy(query.sorts) + ", " }
        guard let source = query.source else { return "" }
        let elements = layout.tables[source.elementClass]
        _ = builder.bind(source.parent, source.parentType)
        return "(SELECT min(e.\(elements.columnNames[ElementColumn.rank])) FROM \(elements.table) AS e "
            + "WHERE \(elements.childCondition) AND e.\(elements.columnNames[ElementColumn.target]) "
            + "= o.\(layout.tables[query.classIndex].key)), "
    }

    private func condition(
        _ source: ObjectQuery.ListSource, _ query: ObjectQuery, _ builder: inout SQLBuilder
    ) -> String {
        let elements = layout.tables[source.elementClass]
        _ = builder.bind(source.parent, source.parentType)
        return "o.\(layout.tables[query.classIndex].key) IN (SELECT e.\(elements.columnNames[ElementColumn.target]) "
            + "FROM \(elements.table) AS e WHERE \(elements.childCondition))"
    }

    /// The rows that come first among those with the same values.
    private func condition(
        _ distinct: ObjectQuery.Distinct, _ query: ObjectQuery, _ builder: inout SQLBuilder
    ) throws(ValueError) -> String {
        var keys: [String] = []
        for path in distinct.paths { keys.append(try builder.expression(path)) }
        var before = query
        before.sorts = distinct.sorts
        let order = try order(before, &builder)
        var sql =
            "SELECT o.rowid AS r, row_number() OVER (PARTITION BY \(keys.joined(separator: ", ")) "
            + "ORDER BY \(order)o.rowid) AS n FROM \(layout.tables[query.classIndex].table) AS o"
        var conditions: [String] = []
        if let source = query.source { conditions.append(condition(source, query, &builder)) }
        if distinct.predicate != .constant(true) { conditions.append(try builder.condition(distinct.predicate)) }
        if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
        return "o.rowid IN (SELECT r FROM (\(sql)) WHERE n = 1)"
    }
}

/// A statement with what it binds, and the lists of literals too long to bind.
private struct QueryText {
    let sql: String
    let parameters: [SQLParameter]
    let lists: [[Value]]
}
