/// Collects a transaction's changes to one class's rows, in any order. Ascending rows with one change each cost almost
/// nothing. Otherwise each row costs a dictionary entry.
struct RowRecords {
    private struct Record {
        var isDeleted = false
        var isInserted = false
        var columns = ColumnSet()

        var isEmpty: Bool { !isDeleted && !isInserted && columns.isEmpty }
    }

    /// Rows with one change. Within each set they were added in ascending order, and each row is in one set only.
    private var inserted = RowIDSet()
    private var deleted = RowIDSet()
    private var modified: [(columns: ColumnSet, rows: RowIDSet)] = []
    /// All other changes. Overrides the sets.
    private var records: [Int64: Record] = [:]
    private var isEverything = false

    /// Beyond this many different sets of columns in a transaction, further sets go into the dictionary.
    private static let maximumColumnSets = 8

    var isEmpty: Bool {
        !isEverything && inserted.isEmpty && deleted.isEmpty && modified.isEmpty && records.isEmpty
    }

    mutating func insert(_ rowID: Int64) {
        if isEverything { return }
        if Self.isAbove(rowID, inserted), isNew(rowID) {
            inserted.append(rowID)
        } else {
            update(rowID) { $0.isInserted = true }
        }
    }

    mutating func delete(_ rowID: Int64) {
        if isEverything { return }
        if Self.isAbove(rowID, deleted), isNew(rowID) {
            deleted.append(rowID)
            return
        }
        update(rowID) { record in
            if record.isInserted { record.isInserted = false } else { record.isDeleted = true }
            record.columns = ColumnSet()
        }
    }

    mutating func modify(_ rowID: Int64, _ columns: ColumnSet) {
        if isEverything || columns.isEmpty { return }
        if records.isEmpty, inserted.contains(rowID) { return }
        let index = modified.firstIndex { $0.columns == columns }
        if let index, records.isEmpty, modified[index].rows.last == rowID { return }
        let isAbove = index.map { Self.isAbove(rowID, modified[$0].rows) } ?? (modified.count < Self.maximumColumnSets)
        guard isAbove, isNew(rowID) else {
            update(rowID) { if !$0.isInserted { $0.columns.formUnion(columns) } }
            return
        }
        if let index { modified[index].rows.append(rowID) } else { modified.append((columns, [rowID])) }
    }

    /// Replaces the recorded changes of a row that existed before and exists now with these columns.
    mutating func settle(_ rowID: Int64, _ columns: ColumnSet) {
        if isEverything { return }
        update(rowID) { $0 = Record(columns: columns) }
    }

    mutating func takeBackInsertion(of rowID: Int64) { update(rowID) { $0.isInserted = false } }

    mutating func everything() {
        self = RowRecords()
        isEverything = true
    }

    private static func isAbove(_ rowID: Int64, _ rows: RowIDSet) -> Bool { rows.last.map { rowID > $0 } ?? true }

    /// Whether a row has no recorded changes yet.
    private func isNew(_ rowID: Int64) -> Bool {
        (records.isEmpty || records[rowID] == nil) && !inserted.contains(rowID) && !deleted.contains(rowID)
            && !modified.contains { $0.rows.contains(rowID) }
    }

    private mutating func update(_ rowID: Int64, _ body: (inout Record) -> Void) {
        let noted = Record(
            isDeleted: deleted.contains(rowID), isInserted: inserted.contains(rowID),
            columns: modified.first { $0.rows.contains(rowID) }?.columns ?? ColumnSet())
        var record = records[rowID] ?? noted
        body(&record)
        records[rowID] = record.isEmpty && noted.isEmpty ? nil : record
    }

    var changes: ClassChanges {
        if isEverything { return .everything }
        var result = ClassChanges()
        result.inserted = inserted
        result.deleted = deleted
        for (columns, rows) in modified { result.modified.add(rows, columns) }
        if !records.isEmpty { apply(&result) }
        return result.modified.isTooLarge ? .everything : result
    }

    /// Applies the records, which override the sets.
    private func apply(_ result: inout ClassChanges) {
        let rowIDs = records.keys.sorted()
        let all = RowIDSet(rowIDs)
        result.inserted.subtract(all)
        result.deleted.subtract(all)
        result.modified.remove(all)
        var more = ClassChanges()
        var groups: [ColumnSet: RowIDSet] = [:]
        for rowID in rowIDs {
            guard let record = records[rowID] else { continue }
            if record.isInserted { more.inserted.append(rowID) }
            if record.isDeleted { more.deleted.append(rowID) }
            if !record.isInserted, !record.columns.isEmpty {
                groups[record.columns, default: RowIDSet()].append(rowID)
            }
        }
        result.inserted.formUnion(more.inserted)
        result.deleted.formUnion(more.deleted)
        for (columns, rows) in groups { result.modified.add(rows, columns) }
    }
}
