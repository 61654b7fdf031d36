internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore

extension RealmCore {
    func delete(_ object: ObjectBase) {
        requireWrite()
        if let accessor = object.accessor as? EmbeddedAccessor, accessor.place.host.core === self {
            delete(embedded: accessor)
            return
        }
        guard let row = object.accessor as? ManagedRow, row.core === self else {
            programError("Can only delete an object from the Realm it belongs to.")
        }
        guard row.isValid else {
            programError("Can only delete an object once: this \(row.schema.name) is deleted or invalidated.")
        }
        erase(row)
    }

    /// Removes an embedded object from its parent.
    private func delete(embedded accessor: EmbeddedAccessor) {
        guard accessor.isValid else {
            programError(
                "Can only delete an object once: this \(accessor.place.layout.schema.name) is deleted or invalidated.")
        }
        if accessor.place.presence == nil {
            eraseElement(accessor.place.host)
        } else {
            accessor.place.remove()
        }
    }

    /// Deletes an object, its embedded objects, and the objects that its deletion cascades to.
    func erase(_ row: ManagedRow) {
        guard !row.type.cascades.isEmpty else {
            eraseOne(row)
            return
        }
        // Not recursive, because chains can be long or circular.
        var waiting = [row]
        while let next = waiting.popLast() {
            guard next.isValid else { continue }
            for (classIndex, column) in next.type.cascades {
                let type = classes[classIndex]
                for rowid in rowids(type, where: column, is: next.key) { waiting.append(self.row(type, rowid: rowid)) }
            }
            if next.schema.owner == nil { eraseOne(next) } else { eraseElement(next) }
        }
    }

    private func eraseOne(_ row: ManagedRow) {
        let key = file.isSynced ? row.key : nil
        erase(row.type, rowid: row.rowid) { key ?? row.key }
        if let key { log(.erase(ObjectReference(classIndex: row.classIndex, key: key))) }
        row.kill()
    }

    /// Deletes a list element. First deletes the elements of the lists inside it.
    func eraseElement(_ row: ManagedRow) {
        for index in row.type.innerLists {
            let inner = classes[index]
            guard let column = inner.schema.parentColumn else { continue }
            for rowid in rowids(inner, where: column, is: row.key) { eraseElement(self.row(inner, rowid: rowid)) }
        }
        eraseOne(row)
    }

    private func rowids(_ type: ManagedClass, where column: Int, is key: Value) -> [Int64] {
        query {
            let statement = try connection.statement(
                "SELECT rowid FROM \(type.table.table) WHERE \(type.table.columnNames[column]) = ? ORDER BY rowid")
            defer { statement.reset() }
            statement.bind(key, at: 1)
            var found: [Int64] = []
            while try statement.step() { found.append(statement.integer(at: 0)) }
            return found
        }
    }

    /// Deletes a query's results, in a single statement if nothing depends on the objects.
    func delete(_ query: ObjectQuery) {
        requireWrite()
        let type = classes[query.classIndex]
        guard file.isSynced || !type.table.elementClasses.isEmpty || !layout.links[type.index].isEmpty else {
            deleteAlone(query, type)
            return
        }
        for rowid in rowids(query) {
            let row = row(type, rowid: rowid)
            if row.isValid { erase(row) }
        }
    }

    private func deleteAlone(_ query: ObjectQuery, _ type: ManagedClass) {
        guard transaction?.isBroken == false else { return }
        fixRowIDs(beforeDeletingFrom: type)
        var query = query
        query.sorts = []
        perform {
            try writer.flush()
            try runDeletion(query)
        }
        changeCount += 1
        type.noteEverything()
        if type.remembersDeletions { type.deletions.begin(stamp: type.stamp) }
        noteDeletion(from: type.index)
    }

    func deleteAll() {
        requireWrite()
        for type in classes where type.schema.owner == nil { delete(ObjectQuery(classIndex: type.index)) }
    }
}
