public import TomboloModel

extension SQLBuilder {
    /// The rows at which paths start: those of the class, or the elements that a quantifier ranges over.
    struct Scope {
        let item: ClassSchema
        /// The table's name in the statement, quoted.
        let alias: String
    }

    /// An operand as SQL.
    struct Operand {
        let sql: String
        /// The stored type. For a link, that is the type of its target's key. All integers count as 64-bit, because
        /// literals may be outside a narrower range.
        let type: PropertyType
        /// Whether the value can be NULL.
        let isOptional: Bool
        /// Whether this is a column of the row itself, for which an index may be used.
        let isColumn: Bool
        /// For a link, the class that it targets.
        var target: ClassSchema?

        var isDecimal: Bool { type == .decimal128 }
        /// An expression that sorts and compares like the value. It's needed because SQLite stores decimals as text.
        var comparable: String { comparable(sql) }
        /// Converts the other side of a comparison in the same way.
        func comparable(_ sql: String) -> String { isDecimal ? "decimal_order(\(sql))" : sql }
    }

    var rootScope: Scope {
        get throws(ValueError) {
            guard let item = schema[className] else { throw ValueError("There is no class \(className).") }
            return Scope(item: item, alias: dialect.quoted(alias))
        }
    }

    /// The column by which other rows refer to a class's rows.
    func key(of item: ClassSchema) -> String { item.primaryKey.map { dialect.quoted($0.sqlName) } ?? "rowid" }

    func operand(_ path: PropertyPath) throws(ValueError) -> Operand { try operand(path, from: rootScope) }

    /// A column whose values SQL can order.
    func sortable(_ path: PropertyPath) throws(ValueError) -> Operand {
        let scope = try rootScope
        if let column = try schema.resolve(path, from: scope.item).column {
            if column.isEncrypted {
                throw ValueError("\(className).\(path) is encrypted: it can't be sorted or compared.")
            }
            if case .array = column.type {
                throw ValueError("\(className).\(path) is a list inside an embedded object: it has no order.")
            }
        }
        return try operand(path, from: scope)
    }

    func operand(_ path: PropertyPath, from scope: Scope) throws(ValueError) -> Operand {
        let resolved = try schema.resolve(path, from: scope.item)
        guard !resolved.isToMany, let column = resolved.column else {
            throw ValueError("\(scope.item.name).\(path) leads to many values, but one is needed.")
        }
        var type = schema.storedType(of: column)
        if case .int = type { type = .int(bits: 64) }
        let target = column.linkTarget.flatMap { schema[$0] }
        let isColumn = resolved.steps.isEmpty
        return Operand(
            sql: select(dialect.quoted(column.sqlName), resolved, from: scope), type: type,
            isOptional: column.isOptional || !isColumn, isColumn: isColumn, target: target)
    }

    /// A condition (TRUE or FALSE) that all links and embedded objects on the way to a value exist. Nil if the value is
    /// in the row itself.
    /// - Throws: ``ValueError`` if the path doesn't exist.
    public func arrives(at path: PropertyPath) throws(ValueError) -> String? {
        let scope = try rootScope
        let resolved = try schema.resolve(path, from: scope.item)
        guard let column = resolved.column else { return nil }
        let embedding = resolved.item.columns.last { other in
            if case .embedded = other.type { column.name.hasPrefix("\(other.name).") } else { false }
        }
        guard embedding != nil || !resolved.steps.isEmpty else { return nil }
        // A value that is never null tells as much as the key.
        let certain = embedding ?? (column.isOptional ? nil : column)
        let value = certain.map { dialect.quoted($0.sqlName) } ?? key(of: resolved.item)
        return "(\(select(value, resolved, from: scope)) IS NOT NULL)"
    }

    /// A column of the row at the end of a path: `(SELECT "link1"."name" FROM "room" AS "link1" WHERE "link1"."_id" =
    /// "session"."room")`.
    private func select(_ column: String, _ resolved: ResolvedPath, from scope: Scope) -> String {
        if resolved.steps.isEmpty { return "\(scope.alias).\(column)" }
        var tables: [String] = []
        var conditions: [String] = []
        var alias = scope.alias
        for (index, step) in resolved.steps.enumerated() {
            guard case .link(let link, to: let target) = step else { continue }
            let name = linkName(index + 1)
            let table = dialect.quoted(name)
            tables.append("\(dialect.quoted(target.table)) AS \(table)")
            conditions.append("\(table).\(key(of: target)) = \(alias).\(dialect.quoted(link.sqlName))")
            if let isReached { conditions.append(isReached(target, name)) }
            alias = table
        }
        return "(SELECT \(alias).\(column) FROM \(tables.joined(separator: ", ")) "
            + "WHERE \(conditions.joined(separator: " AND ")))"
    }

    /// A name that differs from the statement's own alias.
    private func linkName(_ depth: Int) -> String {
        alias == "link\(depth)" ? "link\(depth)_" : "link\(depth)"
    }
}
