/// Rows of a class, with the properties written in each. They're grouped by sets of properties, so that a bulk update
/// is a single span of rowids.
package struct ModifiedRows: Hashable, Sendable {
    /// No group is empty, and no row is in two groups.
    private(set) var groups: [ColumnSet: RowIDSet] = [:]

    /// With more rows or sets of properties than this, every row counts as changed.
    package static let maximumCount = 1 << 18
    static let maximumGroupCount = 1 << 10

    package init() {}

    package init(_ rows: [Int64: ColumnSet]) {
        for (columns, rows) in Dictionary(grouping: rows, by: \.value) { add(RowIDSet(rows.map(\.key)), columns) }
    }

    package var isEmpty: Bool { groups.isEmpty }

    /// The number of rowids, at most `Int.max`.
    package var count: Int {
        groups.values.reduce(0) { sum, rows in
            let (total, overflow) = sum.addingReportingOverflow(rows.count)
            return overflow ? .max : total
        }
    }

    var isTooLarge: Bool { groups.count > Self.maximumGroupCount || count > Self.maximumCount }

    /// All rows.
    package var rowIDs: RowIDSet { rowIDs { _ in true } }

    /// The rows whose written properties satisfy a condition.
    package func rowIDs(where isIncluded: (ColumnSet) -> Bool) -> RowIDSet {
        let included = groups.filter { isIncluded($0.key) }.map(\.value)
        guard included.count > 1 else { return included.first ?? RowIDSet() }
        var result = RowIDSet()
        for span in included.flatMap(\.spans).sorted(by: { $0.first < $1.first }) { result.append(span) }
        return result
    }

    /// The properties written in a row, or nil if none.
    package subscript(rowID: Int64) -> ColumnSet? { groups.first { $0.value.contains(rowID) }?.key }

    /// Adds written properties to rows.
    package mutating func insert(_ rows: RowIDSet, _ columns: ColumnSet) {
        if columns.isEmpty { return }
        var new = rows
        for (known, own) in groups where known != columns {
            let common = own.intersection(rows)
            if common.isEmpty { continue }
            new.subtract(common)
            let union = known.union(columns)
            if union == known { continue }
            remove(common, known)
            groups[union, default: RowIDSet()].formUnion(common)
        }
        add(new, columns)
    }

    /// The same, for rows that aren't in the set yet.
    mutating func add(_ rows: RowIDSet, _ columns: ColumnSet) {
        if columns.isEmpty || rows.isEmpty { return }
        groups[columns, default: RowIDSet()].formUnion(rows)
    }

    /// Removes rows.
    package mutating func remove(_ rows: RowIDSet) { for columns in Array(groups.keys) { remove(rows, columns) } }

    private mutating func remove(_ rows: RowIDSet, _ columns: ColumnSet) {
        groups[columns]?.subtract(rows)
        if groups[columns]?.isEmpty == true { groups[columns] = nil }
    }
}

extension ModifiedRows: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (Int64, ColumnSet)...) {
        for (rowID, columns) in elements { insert([rowID], columns) }
    }
}
