package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
import TomboloSQL
import TomboloLocalization

/// Reads resources that a caller may see, and nothing in the trash.
package struct ResourceReader: Sendable {
    /// The most resources that one answer includes besides the requested ones.
    package static let maximumIncludedCount = 1_000

    package let view: CallerView

    /// The cache of totals; nil to count each time.
    let answers: ListAnswers?

    package init(view: CallerView, answers: ListAnswers? = nil) {
        self.view = view
        self.answers = answers
    }

    /// A row with everything that is needed to write it.
    package struct Resource: Sendable {
        package let plan: ResourcePlan
        package let row: PostgresRow

        package init(plan: ResourcePlan, row: PostgresRow) {
            self.plan = plan
            self.row = row
        }
    }

    package struct Page: Sendable {
        package var resources: [Resource] = []
        package var included: [Resource] = []
        /// The cursor of the next page; nil on the last one.
        package var next: String?
        package var total: Int64?
    }

    private struct Identity: Hashable {
        let classIndex: Int
        let key: Value
    }

    // MARK: Statements

    /// - Parameters:
    ///   - filter: the condition on resources. It sees links as resources show them.
    ///   - visible: the visible resources; nil for those that the caller may read.
    ///   - extra: more expressions, after the plan's.
    ///   - limit: the most rows.
    package func statement(
        _ plan: ResourcePlan, matching filter: Predicate, visible: Predicate? = nil, extra: [String] = [],
        orderBy sorts: [ResourceQuery.Sort] = [], limit: Int, offset: Int = 0, locking: String = ""
    ) throws -> PostgresStatement {
        var statement = try selection(
            plan, matching: filter, visible: visible, extra: extra, orderBy: sorts, limit: limit, offset: offset
        ).statement
        if !locking.isEmpty { statement.sql += " \(locking)" }
        return statement
    }

    /// - Returns: the statement, and whether the resources that it finds may depend on rows of other classes.
    private func selection(
        _ plan: ResourcePlan, matching filter: Predicate, visible: Predicate?, extra: [String],
        orderBy sorts: [ResourceQuery.Sort], limit: Int, offset: Int
    ) throws -> (statement: PostgresStatement, looksElsewhere: Bool) {
        let item = plan.type.item
        var builder = try SQLBuilder.resources(of: plan.type, for: view)
        let condition = try builder.condition(visible: visible ?? view.readable(plan.type), asked: filter)
        let order = try builder.orderBy(sorts.map { SQLSort($0.path, ascending: $0.isAscending) })
        var sql = """
            SELECT \((plan.columns + extra).joined(separator: ", "))
            FROM \(PostgresSQL.quoteIdentifier(item.table)) AS "\(ResourcePlan.alias)"
            WHERE \(condition) AND \(RowReader.isIn(trash: false, item, alias: ResourcePlan.alias))
            """
        var parameters = try builder.parameters.map { try PostgresParameter($0) }
        if !order.isEmpty { sql += "\nORDER BY \(order)" }
        sql += " LIMIT \(limit)"
        if offset > 0 {
            parameters.append(.int64(Int64(offset)))
            sql += " OFFSET $\(parameters.count)"
        }
        return (PostgresStatement(sql, parameters), Self.looksElsewhere(condition) || Self.looksElsewhere(order))
    }

    // MARK: Reading

    /// The plan, with the linkage of every relationship that the query follows from resources of the type.
    package func plan(_ type: ResourceType, _ query: ResourceQuery) -> ResourcePlan {
        ResourcePlan(
            type, for: view, fields: query.fields[type.name], linkage: query.included(from: type),
            beginnings: query.beginnings[type.name] ?? [])
    }

    /// The page of a list that a query asks for.
    /// - Parameter narrowing: an additional condition on its resources.
    package func page(
        _ type: ResourceType, _ query: ResourceQuery, narrowing: Predicate = .constant(true), _ pool: PostgresPool
    ) async throws -> Page {
        let request = try request(type, query, narrowing: narrowing)
        return try await page(request, since: answers?.begin(), pool)
    }

    /// A request for a list.
    struct ListRequest {
        let plan: ResourcePlan
        let query: ResourceQuery
        let rows: PostgresStatement
        /// Nil if the total isn't requested.
        let counting: Counting?
        /// The classes whose rows the page depends on, apart from what it includes; nil if it may depend on those of
        /// any class.
        let classNames: Set<String>?
    }

    /// - Parameter narrowing: an additional condition on the list's resources.
    func request(
        _ type: ResourceType, _ query: ResourceQuery, narrowing: Predicate = .constant(true)
    ) throws -> ListRequest {
        let plan = plan(type, query)
        let filter = Predicate.all([narrowing, query.filter])
        let keys = query.sorts.flatMap { sort -> [String] in
            let column = PostgresSQL.quoteIdentifier(ResourcePlan.alias, sort.column.sqlName)
            guard sort.type.stored == .string else { return [column, "false"] }
            // A long string has no room in a cursor, and isn't read for one.
            let isLong = "coalesce(octet_length(\(column)::text), 0) > \(ResourcePage.maximumCursorByteCount)"
            return ["CASE WHEN NOT \(isLong) THEN \(column) END", isLong]
        }
        let rows = try selection(
            plan, matching: .all([filter, query.page.condition(query.sorts)]), visible: nil, extra: keys,
            orderBy: query.sorts, limit: query.page.size + 1, offset: query.page.offset)
        return ListRequest(
            plan: plan, query: query, rows: rows.statement,
            counting: query.page.wantsTotal ? try counting(type, matching: filter) : nil,
            classNames: rows.looksElsewhere ? nil : view.shownClassNames(of: type))
    }

    /// The page of a list.
    /// - Parameter beginning: nil to cache nothing.
    /// - Throws: may also throw `PostgresError` `.resultTooLarge`.
    func page(
        _ request: ListRequest, since beginning: ListAnswers.Beginning?, _ pool: PostgresPool
    ) async throws -> Page {
        try await PostgresResultLimit.$bytes.withValue(HTTPLimits.listByteCount) {
            try await readPage(request, since: beginning, pool)
        }
    }

    private func readPage(
        _ request: ListRequest, since beginning: ListAnswers.Beginning?, _ pool: PostgresPool
    ) async throws -> Page {
        let (plan, query) = (request.plan, request.query)
        var uncounted = request.counting
        var known: Int64?
        if let counting = uncounted {
            known = try await answers?.total(counting.statement)
            if known != nil { uncounted = nil }
        }
        // A single statement sees one snapshot without a transaction.
        guard uncounted != nil || !query.includes.isEmpty else {
            var page = try self.page(try await pool.query(request.rows.sql, request.rows.parameters), plan, query)
            page.total = known
            return page
        }
        return try await pool.transaction(isolation: .repeatableRead, readOnly: true) { [uncounted, known] connection in
            let results = try await connection.pipeline([request.rows] + (uncounted.map { [$0.statement] } ?? []))
            var page = try self.page(results[0], plan, query)
            page.total = known
            if let uncounted {
                let total = try results[1][0, 0].int64
                page.total = total
                if let beginning {
                    answers?.keep(total, of: uncounted.statement, uncounted.classNames, since: beginning)
                }
            }
            page.included = try await included(with: page.resources, query, connection)
            return page
        }
    }

    private func page(_ result: PostgresResult, _ plan: ResourcePlan, _ query: ResourceQuery) throws -> Page {
        var page = Page()
        page.resources = result.prefix(query.page.size).map { Resource(plan: plan, row: $0) }
        if result.count > query.page.size { page.next = try next(page.resources, plan, query) }
        return page
    }

    /// The cursor after a page: of its last row, or of the last row before it whose values fit into a cursor, with the
    /// number of rows from there on.
    private func next(_ resources: [Resource], _ plan: ResourcePlan, _ query: ResourceQuery) throws -> String {
        for (count, resource) in resources.reversed().enumerated() {
            let cells = query.sorts.indices.map { plan.columns.count + 2 * $0 }
            guard try !cells.contains(where: { try resource.row[$0 + 1].bool }) else { continue }
            let values = try zip(cells, query.sorts).map { try resource.row[$0].value(of: $1.type.stored) }
            let cursor = ResourcePage.encode(values, query.sorts, skipping: count)
            if cursor.utf8.count <= ResourcePage.maximumCursorByteCount { return cursor }
        }
        return ResourcePage.encode(query.page.after, query.sorts, skipping: query.page.offset + resources.count)
    }

    /// The resource with a key, and what it includes; nil if the caller can see none.
    package func single(
        _ type: ResourceType, key: Value, _ query: ResourceQuery, _ pool: PostgresPool
    ) async throws -> (resource: Resource, included: [Resource])? {
        let plan = plan(type, query)
        let statement = try statement(plan, matching: isKey(key, of: type), limit: 1)
        guard !query.includes.isEmpty else {
            return try await pool.query(statement.sql, statement.parameters).first.map {
                (Resource(plan: plan, row: $0), [])
            }
        }
        return try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            let result = try await connection.query(statement.sql, statement.parameters)
            guard let resource = result.first.map({ Resource(plan: plan, row: $0) }) else { return nil }
            return (resource, try await included(with: [resource], query, connection))
        }
    }

    package func isKey(_ key: Value, of type: ResourceType) -> Predicate {
        .compare(PropertyPath(type.key.name), .equal, key)
    }

    // MARK: Including

    /// The resources that a query includes from some resources: each once, and only those that the caller may see.
    /// - Throws: ``RequestFailure`` with status 400 if they are too many.
    nonisolated(nonsending) private func included(
        with resources: [Resource], _ query: ResourceQuery, _ connection: PostgresConnection
    ) async throws -> [Resource] {
        var known: [Identity: Resource] = [:]
        for resource in resources {
            known[Identity(classIndex: resource.plan.type.classIndex, key: try resource.plan.key(resource.row))] =
                resource
        }
        var included: [Resource] = []
        var waiting = query.includes.map { (include: $0, parents: resources) }
        while !waiting.isEmpty {
            let (include, parents) = waiting.removeFirst()
            guard let target = include.field.target.flatMap({ view.types[$0] }) else { continue }
            let keys = try Self.unique(parents.flatMap { try $0.plan.linked($0.row, include.field.name) })
            let missing = keys.filter { known[Identity(classIndex: target.classIndex, key: $0)] == nil }
            let readable = view.readable(target)
            if !missing.isEmpty, readable != .constant(false) {
                let plan = plan(target, query)
                let statement = try statement(
                    plan, matching: .isIn(PropertyPath(target.key.name), missing), visible: readable,
                    limit: Self.maximumIncludedCount + 1)
                let found = try await connection.query(statement.sql, statement.parameters)
                guard included.count + found.count <= Self.maximumIncludedCount else {
                    throw RequestFailure(
                        .badRequest,
                        localized("The answer would include more than \(Self.maximumIncludedCount) resources."),
                        hint: localized("Ask for a smaller page with page[size], or for fewer relationships."),
                        source: .parameter("include"))
                }
                for row in found {
                    known[Identity(classIndex: target.classIndex, key: try plan.key(row))] =
                        Resource(plan: plan, row: row)
                }
                // In the order of the links, not the database's.
                included += missing.compactMap { known[Identity(classIndex: target.classIndex, key: $0)] }
            }
            guard !include.inner.isEmpty else { continue }
            let children = keys.compactMap { known[Identity(classIndex: target.classIndex, key: $0)] }
            waiting += include.inner.map { (include: $0, parents: children) }
        }
        return included
    }

    private static func unique(_ keys: [Value]) -> [Value] {
        var seen: Set<Value> = []
        return keys.filter { seen.insert($0).inserted }
    }
}

extension ResourceQuery {
    /// The names of a type's relationships that are followed anywhere: a resource may be reached in several ways.
    fileprivate func included(from type: ResourceType) -> Set<String> {
        func names(_ includes: [Include]) -> Set<String> {
            includes.reduce(into: []) { result, include in
                result.insert(include.field.name)
                result.formUnion(names(include.inner))
            }
        }
        return names(includes).intersection(type.fields.map(\.name))
    }
}
