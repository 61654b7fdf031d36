internal import TomboloModel
internal import TomboloSQLiteStore

extension RealmCore {
    /// The current content of a row, or nil if the row doesn't exist.
    func page(_ type: ManagedClass, rowid: Int64, reusing page: RowPage? = nil) -> RowPage? {
        query { try type.page(rowid: rowid, reusing: page) }
    }

    func page(_ type: ManagedClass, key: Value) -> RowPage? { query { try type.page(key: key) } }

    /// Reads the rows that still exist.
    /// - Parameters:
    ///   - page: empty, with room for all rows.
    ///   - rowids: in ascending order.
    func fill(_ page: RowPage, _ type: ManagedClass, with rowids: ArraySlice<Int64>) {
        guard let first = rowids.first, let last = rowids.last else { return }
        let columns = (["rowid"] + type.table.columnNames).joined(separator: ", ")
        query {
            page.stamp = type.stamp
            let statement = try connection.statement(
                "SELECT \(columns) FROM \(type.table.table) WHERE rowid BETWEEN ? AND ? ORDER BY rowid")
            defer { statement.reset() }
            statement.bind(first, at: 1)
            statement.bind(last, at: 2)
            var next = rowids.startIndex
            while next < rowids.endIndex, try statement.step() {
                let rowid = statement.integer(at: 0)
                while next < rowids.endIndex, rowids[next] < rowid { next += 1 }
                guard next < rowids.endIndex, rowids[next] == rowid else { continue }
                page.append(statement.current, type.forms)
                next += 1
            }
        }
    }

    /// The row of an existing object.
    func find(_ reference: ObjectReference) -> ManagedRow? {
        find(classes[reference.classIndex], key: reference.key)
    }

    func find(_ type: ManagedClass, key: Value) -> ManagedRow? {
        guard let page = page(type, key: key) else { return nil }
        return ManagedRow(core: self, type: type, page: page, row: 0, isShared: false)
    }

    /// The row that a query found.
    func row(_ type: ManagedClass, rowid: Int64) -> ManagedRow {
        // Synced rows are identified by key, and frozen rows are read once for all threads.
        guard file.isSynced || isFrozen, let page = page(type, rowid: rowid) else {
            return ManagedRow(core: self, type: type, rowid: rowid)
        }
        return ManagedRow(core: self, type: type, page: page, row: 0, isShared: false)
    }
}
