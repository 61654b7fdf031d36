internal import TomboloModel
internal import TomboloSQLiteStore

/// Goes over the rows that a query found when the loop began. Rows come from the query's own statement, a page at a
/// time, so that memory stays small; when the tables are about to change, the rowids of the rest are read first.
final class RowCursor {
    let core: RealmCore
    private let type: ManagedClass
    private let invalidations: UInt64
    /// Open while there may be more rows.
    private var statement: SQLiteStatement?
    private var page: RowPage
    /// The next row of the page.
    private var position = 0
    /// What was left when the tables changed.
    private var rest: [Int64] = []
    private var restPosition = 0
    /// What was handed out last: used again where nobody kept it.
    private var object: Object?
    private var row: ManagedRow?

    /// Rows read at once: few for loops that end early, then more.
    private static let firstPageSize = 16
    private static let pageSize = 256

    init(core: RealmCore, query: ObjectQuery) {
        self.core = core
        type = core.classes[query.classIndex]
        invalidations = core.invalidations
        page = RowPage(columnCount: type.forms.count, capacity: Self.firstPageSize)
        (statement, rest) = core.locked { core.open(query) }
        if statement != nil { core.locked { core.open(self) } }
    }

    deinit { finish() }

    private func finish() {
        guard let statement else { return }
        self.statement = nil
        core.locked {
            core.close(self)
            core.connection.giveBack(statement)
        }
    }

    /// Reads which rows are left, and lets go of the tables.
    func drain() {
        guard let statement else { return }
        core.reading { while try statement.step() { rest.append(statement.integer(at: 0)) } }
        finish()
    }

    /// The next object that still exists.
    func next() -> Object? { core.locked { findNext() } }

    private func findNext() -> Object? {
        core.confinement.check()
        guard invalidations == core.invalidations else { return nil }
        while true {
            if position < page.rowCount {
                let index = position
                position += 1
                if page.stamp == type.stamp || type.isUnchanged(page.rowids[index], since: page.stamp) {
                    return object(page, index)
                }
                if let object = object(page.rowids[index]) { return object }
            } else if let statement {
                refill(statement)
            } else if restPosition < rest.count {
                restPosition += 1
                if let object = object(rest[restPosition - 1]) { return object }
            } else {
                return nil
            }
        }
    }

    private func refill(_ statement: SQLiteStatement) {
        if page.rowCount > 0, page.capacity < Self.pageSize {
            page = RowPage(columnCount: type.forms.count, capacity: Self.pageSize)
        } else {
            if canReuse() { row?.letGo() }
            if isKnownUniquelyReferenced(&page) {
                page.removeAll()
            } else {
                page = RowPage(columnCount: type.forms.count, capacity: Self.pageSize)
            }
        }
        position = 0
        page.stamp = type.stamp
        let page = page
        let isOpen = core.reading { try page.fill(from: statement, type.forms) }
        if !isOpen { finish() }
    }

    private func object(_ page: RowPage, _ index: Int) -> Object {
        if let object = reusable() {
            row?.move(to: page, row: index)
            return object
        }
        return remember(ManagedRow(core: core, type: type, page: page, row: index, isShared: true))
    }

    /// Nil where the row is gone.
    private func object(_ rowid: Int64) -> Object? {
        if !core.file.isSynced, let object = reusable(), let row {
            row.move(to: rowid)
            return row.isValid ? object : nil
        }
        let row = core.row(type, rowid: rowid)
        return row.isValid ? remember(row) : nil
    }

    private func remember(_ row: ManagedRow) -> Object {
        let object = row.managedObject()
        if type.objectClass?.isPlain == true {
            self.object = object
            self.row = row
        }
        return object
    }

    /// The object that was handed out last, where nobody has it any more.
    private func reusable() -> Object? { canReuse() ? object : nil }

    private func canReuse() -> Bool {
        guard isKnownUniquelyReferenced(&object), let object, _getWeakRetainCount(object) <= 1 else { return false }
        // The object's own reference aside, nobody may have the accessor: a list would.
        object.accessor = nil
        let isUnique = isKnownUniquelyReferenced(&row)
        object.accessor = row
        return isUnique
    }
}
