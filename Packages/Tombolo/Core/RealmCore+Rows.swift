internal import TomboloModel
internal import TomboloSQLiteStore

extension RealmCore {
    /// A row as it is now; nil where it is not there.
    func page(_ type: ManagedClass, rowid: Int64, reusing page: RowPage? = nil) -> RowPage? {
        query { try type.page(rowid: rowid, reusing: page) }
    }

    func page(_ type: ManagedClass, key: Value) -> RowPage? { query { try type.page(key: key) } }

    /// The row of an object that exists.
    func find(_ reference: ObjectReference) -> ManagedRow? {
        find(classes[reference.classIndex], key: reference.key)
    }

    func find(_ type: ManagedClass, key: Value) -> ManagedRow? {
        guard let page = page(type, key: key) else { return nil }
        return ManagedRow(core: self, type: type, page: page, row: 0, isShared: false)
    }

    /// The object of a row that a query found.
    func row(_ type: ManagedClass, rowid: Int64) -> ManagedRow {
        // Synced rows are known by their keys; frozen ones are read once, for all threads.
        guard file.isSynced || isFrozen, let page = page(type, rowid: rowid) else {
            return ManagedRow(core: self, type: type, rowid: rowid)
        }
        return ManagedRow(core: self, type: type, page: page, row: 0, isShared: false)
    }
}
