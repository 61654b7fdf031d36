public import TomboloModel

extension SQLBuilder {
    /// The rows that paths begin at: those of the class, or the elements that a quantifier is about.
    struct Scope {
        let item: ClassSchema
        /// Quoted.
        let alias: String
    }

    /// What an operand stands for in SQL.
    struct Operand {
        let sql: String
        /// The stored type: that of the target's key for a link. Integers count as 64-bit, for their literals may lie
        /// outside a narrower range.
        let type: PropertyType
        /// Whether it can be NULL.
        let isOptional: Bool
        /// A column of the row itself, which an index may serve.
        let isColumn: Bool
        /// For a link: the class of its objects.
        var target: ClassSchema?

        var isDecimal: Bool { type == .decimal128 }
        /// In SQLite, what sorts, and is equal, as the value does: decimals are text there.
        var comparable: String { comparable(sql) }
        /// The same for what the value is compared with.
        func comparable(_ sql: String) -> String { isDecimal ? "decimal_order(\(sql))" : sql }
    }

    var rootScope: Scope {
        get throws(ValueError) {
            guard let item = schema[className] else { throw ValueError("There is no class \(className).") }
            return Scope(item: item, alias: dialect.quoted(alias))
        }
    }

    /// The column that other rows refer to a class's rows by.
    func key(of item: ClassSchema) -> String { item.primaryKey.map { dialect.quoted($0.sqlName) } ?? "rowid" }

    func operand(_ path: PropertyPath) throws(ValueError) -> Operand { try operand(path, from: rootScope) }

    /// A column whose values SQL can put in an order.
    func sortable(_ path: PropertyPath) throws(ValueError) -> Operand {
        let scope = try rootScope
        if let column = try schema.resolve(path, from: scope.item).column {
            if column.isEncrypted {
                throw ValueError("\(className).\(path) is encrypted: it cannot be sorted or compared.")
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
            throw ValueError("\(scope.item.name).\(path) leads to many values, where one is needed.")
        }
        var type = schema.storedType(of: column)
        if case .int = type { type = .int(bits: 64) }
        let target = column.linkTarget.flatMap { schema[$0] }
        let isColumn = resolved.steps.isEmpty
        return Operand(
            sql: select(dialect.quoted(column.sqlName), resolved, from: scope), type: type,
            isOptional: column.isOptional || !isColumn, isColumn: isColumn, target: target)
    }

    /// The condition that the links and embedded objects on the way to a value are there, TRUE or FALSE; nil where the
    /// row has the value itself.
    /// - Throws: ``ValueError`` for a path that does not exist.
    public func arrives(at path: PropertyPath) throws(ValueError) -> String? {
        let scope = try rootScope
        let resolved = try schema.resolve(path, from: scope.item)
        guard let column = resolved.column else { return nil }
        let embedding = resolved.item.columns.last { other in
            if case .embedded = other.type { column.name.hasPrefix("\(other.name).") } else { false }
        }
        guard embedding != nil || !resolved.steps.isEmpty else { return nil }
        // A value that is always there says the same as the key.
        let certain = embedding ?? (column.isOptional ? nil : column)
        let value = certain.map { dialect.quoted($0.sqlName) } ?? key(of: resolved.item)
        return "(\(select(value, resolved, from: scope)) IS NOT NULL)"
    }

    /// A column of the row that a path ends at: `(SELECT "link1"."name" FROM "room" AS "link1" WHERE
    /// "link1"."_id" = "session"."room")`.
    private func select(_ column: String, _ resolved: ResolvedPath, from scope: Scope) -> String {
        if resolved.steps.isEmpty { return "\(scope.alias).\(column)" }
        var tables: [String] = []
        var conditions: [String] = []
        var alias = scope.alias
        for (index, step) in resolved.steps.enumerated() {
            guard case .link(let link, to: let target) = step else { continue }
            let table = linkAlias(index + 1)
            tables.append("\(dialect.quoted(target.table)) AS \(table)")
            conditions.append("\(table).\(key(of: target)) = \(alias).\(dialect.quoted(link.sqlName))")
            alias = table
        }
        return "(SELECT \(alias).\(column) FROM \(tables.joined(separator: ", ")) "
            + "WHERE \(conditions.joined(separator: " AND ")))"
    }

    /// Differs from the statement's own alias, whatever that is.
    private func linkAlias(_ depth: Int) -> String {
        dialect.quoted(alias == "link\(depth)" ? "link\(depth)_" : "link\(depth)")
    }
}
