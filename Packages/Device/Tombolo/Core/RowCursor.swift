public import TomboloModel
internal import TomboloSQLiteStore

/// Iterates over the rows that a query found when the loop began. The rows come from the query's own statement, which
/// keeps memory use low. When the tables are about to change, the remaining rowids are read first.
///
/// A loop that keeps no objects reads directly from the statement, through one object that moves from row to row. For
/// loops that keep objects, rows are read ahead, a page at a time.
@usableFromInline final class RowCursor {
    let core: RealmCore
    private let type: ManagedClass
    private let invalidations: UInt64
    /// Open while there may be more rows.
    private var statement: SQLiteStatement?
    private var readsAhead: Bool
    /// The rows read ahead.
    private var page: RowPage?
    /// The next row of the page.
    private var position = 0
    /// The rowids that remained when the tables changed.
    private var rest: [Int64] = []
    private var restPosition = 0
    /// The object returned last. It's reused if nobody kept it.
    private var object: Object?
    /// The object's accessor, which the object holds.
    private unowned(unsafe) var row: ManagedRow?
    private var keptCount = 0

    /// After this many kept objects, rows are read ahead.
    private static let maximumKeptCount = 8
    /// The number of rows read at once: few at first, for loops that end early, then more.
    private static let firstPageSize = 16
    private static let pageSize = 256
    private static let restPageSize = 64
    /// Rows are read ahead only if they have at most this many rowids per row in their range.
    private static let maximumGap = 4

    init(core: RealmCore, query: ObjectQuery) {
        self.core = core
        type = core.classes[query.classIndex]
        invalidations = core.invalidations
        // Objects of frozen Realms may be read by any thread. Objects with stored properties of the app's own aren't
        // reused.
        readsAhead = core.isFrozen || type.objectClass?.isPlain != true
        (statement, rest) = core.locked { core.open(query) }
        if statement != nil { core.locked { core.cursors.insert(self) } }
    }

    deinit { finish() }

    private func finish() {
        guard let statement else { return }
        leave()
        self.statement = nil
        core.locked {
            core.cursors.remove(self)
            core.connection.giveBack(statement)
        }
    }

    /// Reads the remaining rowids and stops reading from the tables.
    func drain() {
        guard let statement else { return }
        leave()
        core.reading { while try statement.step() { rest.append(statement.integer(at: 0)) } }
        finish()
    }

    /// The next object that still exists.
    @usableFromInline func next() -> Object? { core.locked { findNext() } }

    private func findNext() -> Object? {
        core.confinement.check()
        guard invalidations == core.invalidations else { return nil }
        if !readsAhead, let statement {
            let isReusable = leave()
            guard core.reading({ try statement.step() }) else {
                finish()
                return nil
            }
            return object(statement.current, isReusable)
        }
        while true {
            if let page, position < page.rowCount {
                let index = position
                position += 1
                if page.stamp == type.stamp || type.isUnchanged(page.rowids[index], since: page.stamp) {
                    return object(page, index)
                }
                if let object = object(page.rowids[index]) { return object }
            } else if let statement {
                refill(statement)
            } else if restPosition < rest.count {
                if refillFromRest() { continue }
                restPosition += 1
                if let object = object(rest[restPosition - 1]) { return object }
            } else {
                return nil
            }
        }
    }

    private func refill(_ statement: SQLiteStatement) {
        leave()
        if page?.capacity == Self.pageSize, isKnownUniquelyReferenced(&page) {
            page?.removeAll()
        } else {
            let capacity = page == nil ? Self.firstPageSize : Self.pageSize
            page = RowPage(columnCount: type.forms.count, capacity: capacity)
        }
        guard let page else { return }
        position = 0
        page.stamp = type.stamp
        let isOpen = core.reading { try page.fill(from: statement, type.forms) }
        if !isOpen { finish() }
    }

    /// Reads some of the remaining rows if they're close together in table order. Takes fewer than ``page`` otherwise
    /// does, because in a loop that changes every row, the rows read ahead soon look changed.
    private func refillFromRest() -> Bool {
        let rowids = rest[restPosition..<min(rest.count, restPosition + Self.restPageSize)]
        guard rowids.count > 1, let first = rowids.first, let last = rowids.last, first < last,
            UInt64(bitPattern: last &- first) < UInt64(rowids.count * Self.maximumGap),
            zip(rowids, rowids.dropFirst()).allSatisfy({ $0 < $1 })
        else { return false }
        leave()
        if let known = page?.capacity, known >= Self.restPageSize, isKnownUniquelyReferenced(&page) {
            page?.removeAll()
        } else {
            page = RowPage(columnCount: type.forms.count, capacity: Self.restPageSize)
        }
        guard let page else { return false }
        position = 0
        restPosition = rowids.endIndex
        core.fill(page, type, with: rowids)
        return true
    }

    // MARK: Objects

    /// Prepares for moving the statement off the last object's row. If anyone kept the object, or a part of it that
    /// reads the row, the object gets a copy of the fields.
    /// - Returns: whether nobody kept it.
    @discardableResult
    private func leave() -> Bool {
        guard object != nil else { return false }
        // Check this first, because a local reference to the row would count.
        if canReuse() {
            row?.letGo()
            return true
        }
        row?.settle()
        object = nil
        row = nil
        keptCount += 1
        if keptCount > Self.maximumKeptCount { readsAhead = true }
        return false
    }

    /// The object of the statement's current row.
    private func object(_ standing: StatementRow, _ isReusable: Bool) -> Object {
        if isReusable, let object, let row {
            row.move(to: standing)
            return object
        }
        return remember(ManagedRow(core: core, type: type, standing: standing))
    }

    private func object(_ page: RowPage, _ index: Int) -> Object {
        if canReuse(), let object, let row {
            row.move(to: page, row: index)
            return object
        }
        return remember(ManagedRow(core: core, type: type, page: page, row: index, isShared: true))
    }

    /// Nil if the row doesn't exist.
    private func object(_ rowid: Int64) -> Object? {
        if !core.file.isSynced, canReuse(), let object, let row {
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

    /// Whether nobody kept the object returned last or its accessor, as a list of the object would.
    private func canReuse() -> Bool {
        guard isKnownUniquelyReferenced(&object), let object else { return false }
        return _getWeakRetainCount(object) <= 1 && object.hasOwnAccessor
    }
}
