internal import TomboloModel

extension SQLBuilder {
    /// The tables of a subquery on the elements that a path leads to. An element whose target doesn't exist doesn't count.
    struct Elements {
        var tables: [String] = []
        var conditions: [String] = []
        var scope: Scope

        /// `SELECT … FROM … WHERE …` for the elements that also satisfy a condition.
        func select(_ what: String, where condition: String = "TRUE") -> String {
            let conditions = condition == "TRUE" ? conditions : conditions + [condition]
            return
                "SELECT \(what) FROM \(tables.joined(separator: ", ")) WHERE \(conditions.joined(separator: " AND "))"
        }
    }

    mutating func elements(at path: PropertyPath, from scope: Scope) throws(ValueError) -> Elements {
        let resolved = try schema.resolve(path, from: scope.item)
        guard resolved.isToMany, resolved.column == nil else {
            throw ValueError("\(scope.item.name).\(path) isn't a list.")
        }
        var result = Elements(scope: scope)
        for step in resolved.steps { append(step, to: &result) }
        return result
    }

    private mutating func append(_ step: ResolvedPath.Step, to result: inout Elements) {
        let here = result.scope
        switch step {
        case .link(let column, to: let target):
            let table = add(target, to: &result)
            result.conditions.append("\(table).\(key(of: target)) = \(here.alias).\(dialect.quoted(column.sqlName))")
        case .list(let elements, to: let target):
            let list = add(elements, to: &result)
            let owner = elements.parentColumn ?? ElementColumn.owner
            result.conditions.append("\(list).\(name(of: owner, in: elements)) = \(here.alias).\(key(of: here.item))")
            guard let target else { return }
            let table = add(target, to: &result)
            result.conditions.append(
                "\(table).\(key(of: target)) = \(list).\(name(of: ElementColumn.target, in: elements))")
        case .origins(let origin, let column):
            let table = add(origin, to: &result)
            result.conditions.append("\(table).\(dialect.quoted(column.sqlName)) = \(here.alias).\(key(of: here.item))")
        case .listOrigins(let origin, let elements):
            let list = add(elements, to: &result)
            result.conditions.append(
                "\(list).\(name(of: ElementColumn.target, in: elements)) = \(here.alias).\(key(of: here.item))")
            let table = add(origin, to: &result)
            result.conditions.append(
                "\(table).\(key(of: origin)) = \(list).\(name(of: ElementColumn.owner, in: elements))")
        case .links(let links):
            let selections = links.map { item, column in
                "SELECT \(dialect.quoted(column.sqlName)) AS link FROM \(dialect.quoted(item.table))"
            }
            aliasCount += 1
            let alias = dialect.quoted("tombolo_\(aliasCount)")
            let all = links.isEmpty ? "SELECT NULL AS link" : selections.joined(separator: " UNION ALL ")
            result.tables.append("(\(all)) AS \(alias)")
            result.conditions.append("\(alias).link = \(here.alias).\(key(of: here.item))")
            result.scope = Scope(item: ClassSchema(name: "@links", columns: []), alias: alias)
        }
    }

    /// Adds a table under a unique name. Returns that name for the next step to continue from.
    private mutating func add(_ item: ClassSchema, to result: inout Elements) -> String {
        aliasCount += 1
        let alias = dialect.quoted("tombolo_\(aliasCount)")
        result.tables.append("\(dialect.quoted(item.table)) AS \(alias)")
        result.scope = Scope(item: item, alias: alias)
        return alias
    }

    private func name(of column: Int, in item: ClassSchema) -> String { dialect.quoted(item.columns[column].sqlName) }
}
