package import TomboloModel

/// The operations that the app's block can perform on the new side.
extension LocalMigration {
    /// Sets a property. Setting the primary key updates links to the object.
    /// - Returns: the object's row. Setting an integer key changes it.
    package func set(
        _ value: Value, _ property: StoredClass.Property, of row: Int64, in item: StoredClass
    ) throws -> Int64 {
        guard !property.isPrimaryKey else { return try setKey(value, property, of: row, in: item) }
        try store(
            value, property, of: row, in: item,
            sealedFor: property.isEncrypted ? after.key(of: row, in: item) : .null)
        return row
    }

    func store(
        _ value: Value, _ property: StoredClass.Property, of row: Int64, in item: StoredClass, sealedFor key: Value
    ) throws {
        var value = value
        if property.isEncrypted {
            value = try after.requireCipher(property, item).seal(value, item.name, property.name, key: key)
        }
        let statement = try connection.statement(
            "UPDATE \(MigrationSide.quoted(item.table)) SET \(MigrationSide.quoted(property.column)) = ? "
                + "WHERE rowid = ?")
        statement.bind(value, at: 1)
        statement.bind(row, at: 2)
        try statement.run()
    }

    private func setKey(
        _ value: Value, _ property: StoredClass.Property, of row: Int64, in item: StoredClass
    ) throws -> Int64 {
        let old = try after.key(of: row, in: item)
        guard value != old else { return row }
        guard try after.row(withKey: value, in: item) == nil else { throw duplicate(value, property, item) }
        noteRows(of: item)
        let sealed = try item.properties.filter(\.isEncrypted).map { ($0, try after.value($0, of: row, in: item)) }
        for other in after.schema.sorted {
            for link in other.properties where link.type == .link(to: item.name) {
                let column = MigrationSide.quoted(link.column)
                noteRows(of: other)
                try connection.run(
                    SQLPart(
                        sql: "UPDATE \(MigrationSide.quoted(other.table)) SET \(column) = ? WHERE \(column) = ?",
                        values: [value, old]))
            }
        }
        try store(value, property, of: row, in: item, sealedFor: .null)
        let new = try after.row(withKey: value, in: item) ?? row
        for (property, plain) in sealed { try store(plain, property, of: new, in: item, sealedFor: value) }
        if new != row { moved[item.name, default: MovedRows()].move(row, to: new) }
        return new
    }

    private func duplicate(
        _ value: Value, _ property: StoredClass.Property, _ item: StoredClass
    ) -> SQLiteStoreError {
        SQLiteStoreError(
            .invalidInput,
            "Attempting to create an object of type '\(item.name)' with an existing primary key value '\(value)': "
                + "'\(property.name)' must be unique.")
    }

    /// The new side's row for an old row, or nil if the block deleted the object. The row may also have been deleted in
    /// other ways.
    package func newRow(for old: Int64, in item: StoredClass) -> Int64? {
        guard let moved = moved[item.name] else { return old }
        return moved.row(of: old)
    }

    /// A counter that changes whenever the elements of a list of the class may have changed.
    package func rowChanges(of list: StoredClass) -> Int { rowChanges[list.name] ?? 0 }

    func noteRows(of item: StoredClass) { rowChanges[item.name, default: 0] += 1 }

    /// Creates an object.
    /// - Parameter values: by position in the class's properties. Other properties get their initial values.
    package func insert(_ item: StoredClass, _ values: [Int: Value]) throws -> Int64 {
        if let key = item.keyIndex, let value = values[key], try after.row(withKey: value, in: item) != nil {
            throw duplicate(value, item.properties[key], item)
        }
        var names: [String] = []
        var parts: [SQLPart] = []
        var encrypted: [(StoredClass.Property, Value)] = []
        if item.isElement, let row = try unusedRow(in: item) {
            names.append("rowid")
            parts.append(.value(.int(row)))
        }
        for (position, property) in item.properties.enumerated() {
            let value = values[position]
            names.append(MigrationSide.quoted(property.column))
            if property.isEncrypted {
                let isRequired = !property.isOptional
                let plain =
                    value ?? plan.initialValue(item.name, property.name) ?? (isRequired ? property.type.zero : .null)
                encrypted.append((property, plain))
                parts.append(isRequired ? SQLPart(sql: "x''") : .null)
            } else if let value {
                parts.append(.value(value))
            } else {
                // Absent embedded objects have no values.
                parts.append(property.isRequiredWhenPresent ? .null : initial(property, of: item))
            }
        }
        let sql =
            names.isEmpty
            ? "INSERT INTO \(MigrationSide.quoted(item.table)) DEFAULT VALUES"
            : "INSERT INTO \(MigrationSide.quoted(item.table)) (\(names.joined(separator: ", "))) "
                + "VALUES (\(parts.map(\.sql).joined(separator: ", ")))"
        noteRows(of: item)
        try connection.run(SQLPart(sql: sql, values: parts.flatMap(\.values)))
        let row = try connection.integer("SELECT last_insert_rowid()") ?? 0
        for (property, plain) in encrypted where !plain.isNull { _ = try set(plain, property, of: row, in: item) }
        return row
    }

    /// A rowid for a new list element that was never used before. SQLite would reuse the rowid of the last element if
    /// that was deleted, and the new element would be mistaken for the old one.
    /// - Returns: nil if SQLite has to choose the rowid.
    private func unusedRow(in list: StoredClass) throws -> Int64? {
        let known = try lastElements[list.name] ?? before.schema[list.name].map(before.lastRow) ?? 0
        let last = max(known, try after.lastRow(of: list))
        guard last < .max else { return nil }
        lastElements[list.name] = last + 1
        return last + 1
    }

    /// Deletes an object and its lists. Links to it become nil. List elements that link to it, and objects with
    /// cascading links to it, are deleted.
    package func delete(_ row: Int64, in item: StoredClass) throws {
        var waiting = [(row, item)]
        while let (row, item) = waiting.popLast() {
            guard try after.exists(row, in: item) else { continue }
            if item.isElement {
                try deleteElement(row, of: item)
                continue
            }
            let key = try after.key(of: row, in: item)
            for list in after.schema.elementClasses(of: item.name) { try delete(list, ElementColumn.owner, key) }
            noteRows(of: item)
            try connection.run(
                SQLPart(
                    sql: "DELETE FROM \(MigrationSide.quoted(item.table)) WHERE rowid = ?", values: [.int(row)]))
            moved[item.name, default: MovedRows()].delete(row)
            for other in after.schema.sorted {
                for (position, link) in other.properties.enumerated() where link.type == .link(to: item.name) {
                    if other.isElement, other.content.isEmpty || position == ElementColumn.owner { continue }
                    let table = MigrationSide.quoted(other.table)
                    let column = MigrationSide.quoted(link.column)
                    if link.deletesWithTarget {
                        let statement = try connection.statement("SELECT rowid FROM \(table) WHERE \(column) = ?")
                        statement.bind(key, at: 1)
                        while try statement.step() { waiting.append((statement.integer(at: 0), other)) }
                        statement.reset()
                    } else if link.isOptional {
                        try connection.run(
                            SQLPart(sql: "UPDATE \(table) SET \(column) = NULL WHERE \(column) = ?", values: [key]))
                    } else {
                        try delete(other, position, key)
                    }
                }
            }
        }
    }

    private func delete(_ item: StoredClass, _ column: Int, _ key: Value) throws {
        noteRows(of: item)
        try connection.run(
            SQLPart(
                sql: "DELETE FROM \(MigrationSide.quoted(item.table)) "
                    + "WHERE \(MigrationSide.quoted(item.properties[column].column)) = ?", values: [key]))
    }

    /// Deletes all objects of a class. If the app no longer has the class, also deletes its tables.
    /// - Returns: false if the file doesn't have the class.
    package func deleteData(of name: String) throws -> Bool {
        guard let item = after.schema[name] else {
            guard before.schema[name] != nil else { return false }
            dropped.insert(name)
            return true
        }
        try after.forEachRow(of: item) { try delete($0, in: item) }
        return before.schema[name] != nil
    }

    // MARK: Lists

    /// Appends an element to a list.
    /// - Parameter values: the content, by position in the element class's properties.
    package func append(
        to list: StoredClass, owner: Value, parent: Value?, _ values: [Int: Value]
    ) throws -> Int64 {
        let lower = try lastRank(of: list, owner: owner, parent: parent)
        guard let next = try FractionalRank.sequence(count: 1, between: lower, nil).first else {
            throw SQLiteStoreError(.failure, "No rank is left after '\(lower ?? "")' in '\(list.name)'.")
        }
        var values = values
        values[ElementColumn.id] = .objectId(.generate())
        values[ElementColumn.owner] = owner
        values[ElementColumn.rank] = .string(next)
        if let parent { values[list.properties.count - 1] = parent }
        let row = try insert(list, values)
        appended[list.name] = AppendedElement(owner: owner, parent: parent, row: row)
        return row
    }

    /// The rank of a list's last element.
    private func lastRank(of list: StoredClass, owner: Value, parent: Value?) throws -> String? {
        if let known = appended[list.name], known.owner == owner, known.parent == parent,
            let rank = try after.lastRank(of: list, owner: owner, parent: parent, row: known.row)
        {
            return rank
        }
        return try after.lastRank(of: list, owner: owner, parent: parent)
    }

    /// Deletes elements, including those of nested lists.
    package func deleteElements(of list: StoredClass, owner: Value, parent: Value?) throws {
        for row in try after.elements(of: list, owner: owner, parent: parent) {
            try deleteElement(row, of: list)
        }
    }

    package func deleteElement(_ row: Int64, of list: StoredClass) throws {
        let id = try after.value(list.properties[ElementColumn.id], of: row, in: list)
        for inner in after.schema.elementClasses(of: list.name) where inner.hasParent {
            // Lists further inside belong to the elements of a list in between.
            let depth = inner.name.dropFirst(list.name.count + 1)
            let isDirect = !after.schema.elementClasses(of: list.name).contains {
                $0.embeddedClass != nil && depth.hasPrefix($0.name.dropFirst(list.name.count + 1) + ".")
            }
            guard isDirect else { continue }
            let parent = MigrationSide.quoted(inner.properties[inner.properties.count - 1].column)
            let select = try connection.statement(
                "SELECT rowid FROM \(MigrationSide.quoted(inner.table)) WHERE \(parent) = ?")
            select.bind(id, at: 1)
            var rows: [Int64] = []
            while try select.step() { rows.append(select.integer(at: 0)) }
            select.reset()
            for row in rows { try deleteElement(row, of: inner) }
        }
        noteRows(of: list)
        try connection.run(
            SQLPart(sql: "DELETE FROM \(MigrationSide.quoted(list.table)) WHERE rowid = ?", values: [.int(row)]))
    }
}
