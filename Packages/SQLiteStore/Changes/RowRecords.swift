/// Collects what a transaction does to the rows of one class, in any order and at the cost of a dictionary entry, or
/// of nothing for new rows that ascend.
struct RowRecords {
    private struct Record {
        var isDeleted = false
        var isInserted = false
        var columns = ColumnSet()

        var isEmpty: Bool { !isDeleted && !isInserted && columns.isEmpty }
    }

    /// New rows, each above the last.
    private var run = RowIDSet()
    /// Whatever else happened. Has the last word about a row of the run.
    private var records: [Int64: Record] = [:]
    private var isEverything = false

    var isEmpty: Bool { !isEverything && run.isEmpty && records.isEmpty }

    mutating func insert(_ rowID: Int64) {
        if isEverything { return }
        if run.last.map({ rowID > $0 }) ?? true, records.isEmpty || records[rowID] == nil {
            run.append(rowID)
        } else {
            update(rowID) { $0.isInserted = true }
        }
    }

    mutating func delete(_ rowID: Int64) {
        update(rowID) { record in
            if record.isInserted { record.isInserted = false } else { record.isDeleted = true }
            record.columns = ColumnSet()
        }
    }

    mutating func modify(_ rowID: Int64, _ columns: ColumnSet) {
        if records.isEmpty, run.contains(rowID) { return }
        update(rowID) { if !$0.isInserted { $0.columns.formUnion(columns) } }
    }

    /// Forgets what happened to a row that was there before and is there now, but for these columns.
    mutating func settle(_ rowID: Int64, _ columns: ColumnSet) {
        update(rowID) { $0 = Record(columns: columns) }
    }

    mutating func everything() {
        self = RowRecords()
        isEverything = true
    }

    private mutating func update(_ rowID: Int64, _ body: (inout Record) -> Void) {
        if isEverything { return }
        let isInRun = run.contains(rowID)
        var record = records[rowID] ?? Record(isInserted: isInRun)
        body(&record)
        records[rowID] = record.isEmpty && !isInRun ? nil : record
    }

    var changes: ClassChanges {
        if isEverything { return .everything }
        var result = ClassChanges()
        result.inserted = run
        if records.isEmpty { return result }
        result.inserted.subtract(RowIDSet(records.keys))
        result.inserted.formUnion(RowIDSet(records.lazy.filter(\.value.isInserted).map(\.key)))
        result.deleted = RowIDSet(records.lazy.filter(\.value.isDeleted).map(\.key))
        for (rowID, record) in records where !record.isInserted && !record.columns.isEmpty {
            result.modified[rowID] = record.columns
        }
        return result.modified.count > ClassChanges.maximumModifiedCount ? .everything : result
    }
}
