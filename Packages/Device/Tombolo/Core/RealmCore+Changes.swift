internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore

/// Writes to the tables row by row. All of the Realm's own writes go through here.
extension RealmCore {
    /// Sets a column to a valid value.
    func set(_ field: FieldWrite, _ type: ManagedClass, rowid: Int64, key: @autoclosure () -> Value) {
        // Read the key before the row changes.
        let key = file.isSynced ? key() : .null
        perform { try writer.set(field.column, to: field.value, of: rowid, type.index) }
        log(.set(ObjectReference(classIndex: type.index, key: key), [field]))
    }

    /// Adds to an integer column.
    /// - Parameter sum: the column's value after the addition.
    func add(_ amount: Int64, giving sum: Value, _ column: Int, of row: ManagedRow) {
        let key = file.isSynced ? row.key : .null
        perform { try writer.set(column, to: sum, of: row.rowid, row.classIndex) }
        log(.add(ObjectReference(classIndex: row.classIndex, key: key), column: column, amount: amount))
    }

    /// Inserts an object.
    /// - Parameters:
    ///   - key: the primary key, or nil for a class without one, whose objects are identified by rowid.
    ///   - fields: a valid value for every column but the key, in the order of the columns.
    ///   - rowid: a rowid reserved for the object, or nil.
    /// - Returns: the row, or nil if an object with the key exists.
    func insert(
        _ type: ManagedClass, key: Value?, _ fields: [FieldWrite], rowid reserved: Int64? = nil
    ) -> ManagedRow? {
        let rowid: Int64
        if type.table.isKeyRowID, case .int(let number)? = key {
            rowid = number
        } else {
            rowid = reserved ?? nextRowID(type.index)
        }
        let key = key ?? .int(rowid)
        let fields = sealed(fields, type, key: key)
        var isNew = true
        perform {
            let insertion = try writer.insertion(type.index)
            if let column = type.schema.primaryKeyIndex { insertion.bind(key, at: column) }
            for field in fields { insertion.bind(field.value, at: field.column) }
            isNew = try writer.insert(insertion, rowid: rowid)
        }
        guard isNew else { return nil }
        noteCreation()
        let reference = ObjectReference(classIndex: type.index, key: key)
        log(.create(reference, fields))
        let row = ManagedRow(core: self, type: type, rowid: rowid, createdIn: transactionNumber, madeKey: key)
        if transaction?.isBroken == true {
            var values = Array(repeating: Value.null, count: type.schema.columns.count)
            if let column = type.schema.primaryKeyIndex { values[column] = key }
            for field in fields { values[field.column] = field.value }
            row.fill(values)
        }
        return row
    }

    /// Deletes a row and the elements of its lists.
    func erase(_ type: ManagedClass, rowid: Int64, key: () -> Value) {
        guard transaction?.isBroken == false else { return }
        fixRowIDs(beforeDeletingFrom: type)
        perform { try writer.delete(rowid, key: key, type.index) }
    }

    // MARK: Rowids

    /// A rowid for a new object. It has never been used before.
    func nextRowID(_ classIndex: Int) -> Int64 {
        guard transaction?.isBroken == false else {
            // Nothing is written, and the file may not even be locked.
            unwrittenRowID -= 1
            return unwrittenRowID
        }
        let last = lastRowID(classIndex) + 1
        lastRowIDs[classIndex] = last
        return last
    }

    private func lastRowID(_ classIndex: Int) -> Int64 {
        if let known = lastRowIDs[classIndex] { return known }
        return query { try RowIDCounter(file).last(classIndex) }
    }

    /// Looks up the last rowid while the row with it still exists.
    func fixRowIDs(beforeDeletingFrom type: ManagedClass) {
        for index in [type.index] + type.table.elementClasses
        where lastRowIDs[index] == nil && !classes[index].table.isKeyRowID {
            lastRowIDs[index] = lastRowID(index)
        }
    }

    /// SQLite would reuse the rowid of the newest row after that row is deleted, so the counter is stored.
    func keepRowIDs(_ classIndexes: Set<Int>) throws {
        for index in classIndexes where !classes[index].table.isKeyRowID {
            guard let last = lastRowIDs[index], keptRowIDs[index] != last else { continue }
            try RowIDCounter(file).keep(last, index)
            keptRowIDs[index] = last
        }
    }
}

extension RealmCore: RowWriteObserver {
    func inserted(_ rowid: Int64, _ classIndex: Int) {
        changeCount += 1
        classes[classIndex].noteMembership(of: rowid)
    }

    func updated(_ rowid: Int64, _ column: Int, _ classIndex: Int) {
        changeCount += 1
        classes[classIndex].noteChange(of: rowid)
    }

    func deleted(_ rowid: Int64, _ classIndex: Int) {
        changeCount += 1
        classes[classIndex].noteDeletion(of: rowid)
        noteDeletion(from: classIndex)
    }
}
