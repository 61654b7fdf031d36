public import TomboloModel

extension PostgresCatalog {
    /// The names that a table and its columns get from a schema's renames.
    public struct NewNames: Hashable, Sendable {
        public let table: String
        /// The new names of renamed columns, by old name.
        public let columns: [String: String]
    }

    /// By the tables' names in this catalog. Tables without renames are left out.
    public func newNames(for schema: Schema) -> [String: NewNames] {
        var result: [String: NewNames] = [:]
        for item in schema.classes {
            guard let renaming = ClassRenaming(item, self), renaming.isNeeded else { continue }
            let moved = renaming.columns.filter(\.movesColumn).compactMap { column in
                column.oldSQLName.map { ($0, column.column.sqlName) }
            }
            result[renaming.oldTable] = NewNames(
                table: item.table, columns: Dictionary(moved, uniquingKeysWith: { first, _ in first }))
        }
        return result
    }
}

/// Applies a plan's renames to the catalog, for the steps that follow them.
extension PostgresCatalog {
    mutating func moveTable(_ old: String, to new: String) {
        let columns = tables.removeValue(forKey: old)
        tables[new] = columns
        func moved(_ name: String) -> String {
            name.hasPrefix("\(old).") ? "\(new).\(name.dropFirst(old.count + 1))" : name
        }
        foreignKeys = Dictionary(
            foreignKeys.map { (moved($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        deferrableKeys = Set(deferrableKeys.map(moved))
        policies = Set(policies.map(moved))
        triggers = Set(triggers.map(moved))
        if rowLoggedTables.remove(old) != nil { rowLoggedTables.insert(new) }
        checks = Dictionary(checks.map { (moved($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        for (name, index) in uniqueIndexes where index.table == old {
            uniqueIndexes[name] = UniqueIndex(table: new, columns: index.columns)
        }
    }

    mutating func moveColumn(_ old: String, to new: String, of table: String) {
        let column = tables[table]?.removeValue(forKey: old)
        tables[table]?[new] = column
        for (name, columns) in checks where name.hasPrefix("\(table).") {
            checks[name] = columns.map { $0 == old ? new : $0 }.sorted()
        }
        for (name, index) in uniqueIndexes where index.table == table {
            uniqueIndexes[name] = UniqueIndex(table: table, columns: index.columns.map { $0 == old ? new : $0 })
        }
    }

    mutating func moveIndex(_ old: String, to new: String) {
        indexes.remove(old)
        indexes.insert(new)
        if partialIndexes.remove(old) != nil { partialIndexes.insert(new) }
        let index = uniqueIndexes.removeValue(forKey: old)
        uniqueIndexes[new] = index
    }

    /// - Returns: whether the table had the constraint under its old name only.
    mutating func moveConstraint(_ old: String, to new: String, of table: String) -> Bool {
        let (before, after) = ("\(table).\(old)", "\(table).\(new)")
        if let action = foreignKeys[before], foreignKeys[after] == nil {
            foreignKeys[before] = nil
            foreignKeys[after] = action
            if deferrableKeys.remove(before) != nil { deferrableKeys.insert(after) }
            return true
        }
        guard let columns = checks[before], checks[after] == nil else { return false }
        checks[before] = nil
        checks[after] = columns
        return true
    }

    mutating func setFunction(_ name: String, _ body: String) { functions[name] = body }
}
