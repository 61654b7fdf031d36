internal import Foundation
package import TomboloModel
internal import TomboloSQL

/// Notified of every row that a ``RowWriter`` inserts, changes or deletes.
package protocol RowWriteObserver: AnyObject {
    func inserted(_ rowid: Int64, _ classIndex: Int)
    /// A column was set, possibly to the same value.
    func updated(_ rowid: Int64, _ column: Int, _ classIndex: Int)
    func deleted(_ rowid: Int64, _ classIndex: Int)
}

/// Writes rows of the class tables by rowid, for a Realm's write transactions. In synced files it keeps the server's
/// row beneath every row it touches.
///
/// Consecutive sets in one row are merged into one UPDATE, so call ``flush()`` before reading the tables.
package final class RowWriter {
    private let connection: SQLiteConnection
    private let layout: FileLayout
    private let isSynced: Bool
    private let recorder: ChangeRecorder
    private let lists: ListChanges
    /// Not reference-counted, because it's used for every row. The observer owns the writer, and nothing else calls the
    /// writer.
    package unowned(unsafe) var observer: (any RowWriteObserver)?

    /// By class.
    private var inserts: [RowInsertion?]
    private var captures: [SQLiteStatement?]
    private var absences: [SQLiteStatement?]
    private var deletes: [SQLiteStatement?]
    /// For each class, rows inserted with consecutive rowids. One statement can then record that none of them existed
    /// before.
    private var made: [ClosedRange<Int64>?]
    private var updates: [Shape: SQLiteStatement] = [:]
    private var lastUpdate: (shape: Shape, statement: SQLiteStatement)?

    /// The pending UPDATE. There is none if the columns are empty.
    private var openRow: Int64 = 0
    private var open = Shape(classIndex: 0, columns: [])
    private var openValues: [Value] = []

    /// In synced files: rows that got a long value. Their size is checked before the commit.
    private var longRows: Set<LongRow> = []

    private struct LongRow: Hashable {
        let classIndex: Int
        let rowid: Int64
    }

    /// The length in bytes from which a value counts as long. Shorter values alone can't exceed
    /// ``Row/maximumContentByteCount`` by much, and the server checks every row anyway.
    private static let longByteCount = 4_096

    private struct Shape: Hashable {
        var classIndex: Int
        var columns: [Int]
    }

    /// The maximum number of UPDATE statements kept for different sets of columns.
    private static let maximumShapeCount = 128

    package init(_ file: StoreFile) {
        connection = file.connection
        layout = file.layout
        isSynced = file.isSynced
        recorder = file.recorder
        lists = ListChanges(file)
        inserts = Array(repeating: nil, count: file.layout.tables.count)
        captures = Array(repeating: nil, count: file.layout.tables.count)
        absences = captures
        deletes = captures
        made = Array(repeating: nil, count: file.layout.tables.count)
    }

    // MARK: Inserting

    /// Starts the next row of a class. Bind a value for each column, then call ``insert(_:rowid:)``.
    package func insertion(_ classIndex: Int) throws -> RowInsertion {
        if let known = inserts[classIndex] {
            known.begin()
            return known
        }
        let insertion = try RowInsertion(layout.tables[classIndex], on: connection)
        inserts[classIndex] = insertion
        return insertion
    }

    /// Inserts the row whose values are bound.
    /// - Parameter rowid: ignored if the primary key is the rowid.
    /// - Returns: false if an object with the primary key exists. Nothing has changed then.
    package func insert(_ insertion: RowInsertion, rowid: Int64) throws -> Bool {
        try flush()
        do {
            try insertion.run(rowid: rowid)
        } catch let error as SQLiteStoreError where error.isDuplicateKey {
            return false
        }
        let classIndex = insertion.table.classIndex
        if isSynced {
            try noteMade(rowid, classIndex)
            if insertion.longestByteCount >= Self.longByteCount {
                longRows.insert(LongRow(classIndex: classIndex, rowid: rowid))
            }
        }
        observer?.inserted(rowid, classIndex)
        return true
    }

    /// Notes that elements of an object's list were inserted.
    /// - Parameters:
    ///   - owner: the object's key.
    ///   - elementClass: the class of the elements.
    package func noteList(of owner: Value, _ elementClass: Int) throws { try lists.noteList(of: owner, elementClass) }

    // MARK: Updating

    /// Sets a column of a row, at the next ``flush()``.
    package func set(_ column: Int, to value: Value, of rowid: Int64, _ classIndex: Int) throws {
        defer { observer?.updated(rowid, column, classIndex) }
        if openRow != rowid || open.classIndex != classIndex || open.columns.isEmpty {
            try flush()
            openRow = rowid
            open.classIndex = classIndex
        } else if let index = open.columns.firstIndex(of: column) {
            openValues[index] = value
            return
        }
        open.columns.append(column)
        openValues.append(value)
    }

    /// Runs the pending UPDATE.
    package func flush() throws {
        guard !open.columns.isEmpty else { return }
        defer {
            open.columns.removeAll(keepingCapacity: true)
            openValues.removeAll(keepingCapacity: true)
        }
        // For a row inserted in this transaction, the absence is kept instead.
        if isSynced, made[open.classIndex]?.contains(openRow) != true { try capture(openRow, open.classIndex) }
        let statement = try update(open)
        for (index, value) in openValues.enumerated() {
            statement.bind(value, at: index + 1)
            if isSynced, value.byteCount >= Self.longByteCount {
                longRows.insert(LongRow(classIndex: open.classIndex, rowid: openRow))
            }
        }
        statement.bind(openRow, at: openValues.count + 1)
        recorder.columns = ColumnSet(open.columns)
        try statement.run()
        if lists.isElement(open.classIndex) { try lists.noteElement(rowid: openRow, open.classIndex) }
    }

    /// Discards the pending UPDATE, because its transaction is rolled back.
    package func discard() {
        for index in made.indices { made[index] = nil }
        longRows = []
        open.columns.removeAll(keepingCapacity: true)
        openValues.removeAll(keepingCapacity: true)
    }

    /// Call this before the commit.
    /// - Throws: ``SQLiteStoreError/Code/invalidInput`` for a row too large for a message.
    package func requireRowSizes() throws {
        defer { longRows = [] }
        for row in longRows {
            let table = layout.tables[row.classIndex]
            let sizes = SQLDialect.sqlite.sizedColumns(of: table.schema, in: layout.schema).map {
                "coalesce(length(CAST(\(SQLDialect.sqlite.quoted($0.sqlName)) AS BLOB)), 0)"
            }
            guard sizes.count > 1 else { continue }
            let statement = try connection.statement(
                "SELECT \(sizes.joined(separator: " + ")) FROM \(table.table) WHERE rowid = ?")
            defer { statement.reset() }
            statement.bind(row.rowid, at: 1)
            guard try statement.step(), statement.integer(at: 0) > Row.maximumContentByteCount else { continue }
            throw SQLiteStoreError(
                .invalidInput,
                "An object of \(table.schema.name) would have \(statement.integer(at: 0)) bytes of text and data; the "
                    + "limit in a synced Realm is \(Row.maximumContentByteCount). Move some into separate objects."
            )
        }
    }

    private func update(_ shape: Shape) throws -> SQLiteStatement {
        if let lastUpdate, lastUpdate.shape == shape { return lastUpdate.statement }
        let statement: SQLiteStatement
        if let known = updates[shape] {
            statement = known
        } else {
            if updates.count >= Self.maximumShapeCount { updates.removeAll() }
            statement = try connection.statement(layout.tables[shape.classIndex].updateRow(shape.columns))
            updates[shape] = statement
        }
        lastUpdate = (shape, statement)
        return statement
    }

    // MARK: Deleting

    /// Deletes a row and the elements of its lists. A local file has no server to clean up, so there links to the row
    /// become nil and list elements that point to it are deleted.
    /// - Parameter key: called if other rows or the server refer to the key.
    package func delete(_ rowid: Int64, key: () -> Value, _ classIndex: Int) throws {
        try flush()
        let table = layout.tables[classIndex]
        if lists.isElement(classIndex) { try lists.noteElement(rowid: rowid, classIndex) }
        if lists.isReferenced(classIndex) { try lists.noteReferences(to: key(), table) }
        // Elements have their inner elements deleted one by one, because their owner has other elements too.
        if table.schema.owner == nil, !table.elementClasses.isEmpty {
            let key = key()
            for index in table.elementClasses {
                let elements = layout.tables[index]
                if isSynced {
                    try keepAbsences(index)
                    try run(elements.captureByOwner, key)
                }
                try forEach(elements.deleteByOwner + " RETURNING rowid", key) { observer?.deleted($0, index) }
            }
        }
        if isSynced {
            try keepAbsences(classIndex)
            try capture(rowid, classIndex)
        }
        let links = isSynced ? [] : layout.links[classIndex]
        let target = links.isEmpty ? Value.null : key()
        let statement = try Self.kept(&deletes[classIndex], table.deleteRow, connection)
        statement.bind(rowid, at: 1)
        try statement.run()
        observer?.deleted(rowid, classIndex)
        for (index, column) in links {
            let other = layout.tables[index]
            recorder.columns = [column]
            if other.schema.columns[column].isOptional {
                try forEach(other.clearLink(column), target) { observer?.updated($0, column, index) }
            } else {
                try forEach(other.deleteByLink(column), target) { observer?.deleted($0, index) }
            }
        }
    }

    private func forEach(_ sql: String, _ key: Value, _ body: (Int64) -> Void) throws {
        let statement = try connection.statement(sql)
        statement.bind(key, at: 1)
        // All changes are made by the first step: <https://www.sqlite.org/lang_returning.html>
        while try statement.step() { body(statement.integer(at: 0)) }
        statement.reset()
    }

    // MARK: Rows beneath

    /// Call this before the commit. Records that the inserted rows didn't exist before.
    package func keepAbsences() throws { for index in made.indices { try keepAbsences(index) } }

    /// Call this before deleting rows that may have been inserted in this transaction.
    private func keepAbsences(_ classIndex: Int) throws {
        guard let rowids = made[classIndex] else { return }
        made[classIndex] = nil
        let statement = try Self.kept(&absences[classIndex], layout.tables[classIndex].captureAbsences, connection)
        statement.bind(rowids.lowerBound, at: 1)
        statement.bind(rowids.upperBound, at: 2)
        try statement.run()
    }

    private func noteMade(_ rowid: Int64, _ classIndex: Int) throws {
        if let known = made[classIndex], known.upperBound != .max, known.upperBound + 1 == rowid {
            made[classIndex] = known.lowerBound...rowid
            return
        }
        try keepAbsences(classIndex)
        made[classIndex] = rowid...rowid
    }

    private func capture(_ rowid: Int64, _ classIndex: Int) throws {
        let statement = try Self.kept(&captures[classIndex], layout.tables[classIndex].captureRow, connection)
        statement.bind(rowid, at: 1)
        try statement.run()
    }

    private func run(_ sql: String, _ key: Value) throws {
        let statement = try connection.statement(sql)
        statement.bind(key, at: 1)
        try statement.run()
    }

    private static func kept(
        _ place: inout SQLiteStatement?, _ sql: String, _ connection: SQLiteConnection
    ) throws -> SQLiteStatement {
        if let place { return place }
        let statement = try connection.keptStatement(sql)
        place = statement
        return statement
    }
}
