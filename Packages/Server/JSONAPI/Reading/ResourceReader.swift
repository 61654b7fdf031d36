package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
import TomboloSQL

/// Reads resources that a caller may see, and nothing in the trash.
package struct ResourceReader: Sendable {
    /// Resources that one answer includes besides those that were asked for.
    package static let maximumIncludedCount = 1_000

    package let view: CallerView

    /// Where numbers of resources are kept; nil to count each time.
    let totals: ListTotals?

    package init(view: CallerView, totals: ListTotals? = nil) {
        self.view = view
        self.totals = totals
    }

    /// A row with what is needed to write it.
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
        /// Where the next page begins; nil on the last one.
        package var next: String?
        package var total: Int64?
    }

    private struct Identity: Hashable {
        let classIndex: Int
        let key: Value
    }

    // MARK: Statements

    /// - Parameters:
    ///   - filter: what is asked of resources, with links as they show them.
    ///   - visible: which resources are; nil for those that the caller may read.
    ///   - extra: further expressions behind the plan's.
    ///   - limit: rows at most.
    package func statement(
        _ plan: ResourcePlan, matching filter: Predicate, visible: Predicate? = nil, extra: [String] = [],
        orderBy sorts: [ResourceQuery.Sort] = [], limit: Int, offset: Int = 0, locking: String = ""
    ) throws -> PostgresStatement {
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
        if !locking.isEmpty { sql += " \(locking)" }
        return PostgresStatement(sql, parameters)
    }

    // MARK: Reading

    /// With the linkage of every relationship that is followed from resources of the type.
    package func plan(_ type: ResourceType, _ query: ResourceQuery) -> ResourcePlan {
        ResourcePlan(type, for: view, fields: query.fields[type.name], linkage: query.included(from: type))
    }

    /// The page of a list that a query asks for.
    /// - Parameter narrowing: what else its resources must satisfy.
    package func page(
        _ type: ResourceType, _ query: ResourceQuery, narrowing: Predicate = .constant(true), _ pool: PostgresPool
    ) async throws -> Page {
        let plan = plan(type, query)
        let filter = Predicate.all([narrowing, query.filter])
        let keys = query.sorts.map { PostgresSQL.quoteIdentifier(ResourcePlan.alias, $0.column.sqlName) }
        let list = try statement(
            plan, matching: .all([filter, query.page.condition(query.sorts)]), extra: keys, orderBy: query.sorts,
            limit: query.page.size + 1, offset: query.page.offset)
        let counting = query.page.wantsTotal ? try counting(type, matching: filter) : nil
        var answer: ListTotals.Answer?
        if let counting { answer = try await totals?.answer(counting) }
        var known: Int64?
        if case .known(let total)? = answer { known = total }
        // One statement needs no transaction to be of one moment.
        guard (counting != nil && known == nil) || !query.includes.isEmpty else {
            var page = try self.page(try await pool.query(list.sql, list.parameters), plan, query)
            page.total = known
            return page
        }
        return try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            var statements = [list]
            if known == nil, let counting { statements.append(PostgresStatement(counting.sql, counting.parameters)) }
            let results = try await connection.pipeline(statements)
            var page = try self.page(results[0], plan, query)
            page.total = results.count > 1 ? try results[1][0, 0].int64 : known
            if let total = page.total, let counting, let answer { totals?.keep(total, of: counting, as: answer) }
            page.included = try await included(with: page.resources, query, connection)
            return page
        }
    }

    private func page(_ result: PostgresResult, _ plan: ResourcePlan, _ query: ResourceQuery) throws -> Page {
        var page = Page()
        page.resources = result.prefix(query.page.size).map { Resource(plan: plan, row: $0) }
        if result.count > query.page.size, let last = page.resources.last {
            let values = try query.sorts.enumerated().map { place, sort in
                try last.row[plan.columns.count + place].value(of: sort.type.stored)
            }
            page.next = ResourcePage.encode(values, query.sorts)
        }
        return page
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

    /// What the includes of a query lead to from some resources: each once, and only what the caller may see.
    /// - Throws: ``RequestFailure`` with status 400 if that is too much.
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
                        .badRequest, "The answer would include more than \(Self.maximumIncludedCount) resources.",
                        hint: "Ask for a smaller page with page[size], or for fewer relationships.",
                        source: .parameter("include"))
                }
                for row in found {
                    let resource = Resource(plan: plan, row: row)
                    known[Identity(classIndex: target.classIndex, key: try plan.key(row))] = resource
                    included.append(resource)
                }
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
    /// The names of a type's relationships that are followed, wherever: a resource may be reached on several ways.
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
