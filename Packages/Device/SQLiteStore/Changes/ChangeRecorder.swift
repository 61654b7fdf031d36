internal import Foundation
internal import GRDBSQLite
internal import TomboloModel

/// Records which rows of the class tables are inserted, changed and deleted by a connection's statements. SQLite
/// reports every row (<https://www.sqlite.org/c3ref/update_hook.html>), so writers can't forget any. Writers only have
/// to state the columns, in ``columns``, and report a DELETE without a condition with ``noteEverything(_:)``.
///
/// Confined like its connection.
package final class ChangeRecorder {
    private let connection: SQLiteConnection
    private let names: [UnsafeMutablePointer<CChar>]
    private let allColumns: [ColumnSet]
    private let listOffsets: [Int]
    private var records: [RowRecords]
    /// The class of the last row, because the next row usually has the same class.
    private var recent = 0

    /// The columns that the next statements change. Nil means all columns, but not lists.
    package var columns: ColumnSet?
    /// Whether anything was written since ``reset()``, including the store's own tables.
    package private(set) var hasWritten = false

    private static let reservedPrefix = Array("tombolo_".utf8CString.dropLast())

    init(_ connection: SQLiteConnection, _ schema: Schema) {
        self.connection = connection
        names = schema.classes.map { item in item.table.withCString { strdup($0) } }
        allColumns = schema.classes.map { ColumnSet(0..<$0.columns.count) }
        listOffsets = schema.classes.map(\.columns.count)
        records = Array(repeating: RowRecords(), count: schema.classes.count)
        listen()
    }

    private func listen() {
        sqlite3_update_hook(
            connection.handle,
            { context, operation, _, table, rowID in
                guard let context, let table else { return }
                Unmanaged<ChangeRecorder>.fromOpaque(context).takeUnretainedValue().note(operation, table, rowID)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        sqlite3_update_hook(connection.handle, nil, nil)
        for name in names { free(name) }
    }

    private func note(_ operation: Int32, _ table: UnsafePointer<CChar>, _ rowID: Int64) {
        hasWritten = true
        guard let classIndex = classIndex(table) else { return }
        switch operation {
        case SQLITE_INSERT: records[classIndex].insert(rowID)
        case SQLITE_DELETE: records[classIndex].delete(rowID)
        default: records[classIndex].modify(rowID, columns ?? allColumns[classIndex])
        }
    }

    private func classIndex(_ table: UnsafePointer<CChar>) -> Int? {
        if recent < names.count, strcmp(table, names[recent]) == 0 { return recent }
        if strncmp(table, Self.reservedPrefix, Self.reservedPrefix.count) == 0 { return nil }
        guard let found = names.firstIndex(where: { strcmp(table, $0) == 0 }) else { return nil }
        recent = found
        return found
    }

    /// Notes that elements of a list were inserted, deleted or changed.
    /// - Parameters:
    ///   - owner: the rowid of the list's object.
    ///   - list: the list's position in ``ClassSchema/lists``.
    package func noteList(_ list: Int, of owner: Int64, _ classIndex: Int) {
        records[classIndex].modify(owner, [listOffsets[classIndex] + list])
    }

    /// Notes that a row reads differently although it wasn't written, for instance because its link's target was
    /// deleted.
    func noteModified(_ rowID: Int64, _ classIndex: Int, column: Int) {
        records[classIndex].modify(rowID, [column])
    }

    /// Notes that every row of the class may have changed.
    package func noteEverything(_ classIndex: Int) {
        hasWritten = true
        records[classIndex].everything()
    }

    /// Notes that only these columns differ in a row that existed before and exists now, regardless of what was
    /// recorded for it.
    func settle(_ rowID: Int64, _ classIndex: Int, differing columns: ColumnSet) {
        records[classIndex].settle(rowID, columns)
    }

    /// Runs statements without recording them.
    func withoutRecording(_ body: () throws -> Void) rethrows {
        sqlite3_update_hook(connection.handle, nil, nil)
        defer { listen() }
        try body()
    }

    func noteInserted(_ rowID: Int64, _ classIndex: Int) { records[classIndex].insert(rowID) }

    /// Forgets an insertion, because the row has a different rowid now.
    func takeBackInsertion(of rowID: Int64, _ classIndex: Int) { records[classIndex].takeBackInsertion(of: rowID) }

    /// The changes noted so far.
    package var changes: ChangeSet {
        var result = ChangeSet()
        for (classIndex, record) in records.enumerated() where !record.isEmpty {
            result[classIndex] = record.changes
        }
        return result
    }

    /// Forgets everything at the end of a transaction.
    package func reset() {
        hasWritten = false
        columns = nil
        for index in records.indices where !records[index].isEmpty { records[index] = RowRecords() }
    }
}
