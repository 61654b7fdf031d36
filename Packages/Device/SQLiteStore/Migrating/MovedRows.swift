/// Where to find objects of a class whose integer key the migration's block changed, and which objects the block
/// deleted. Another object may have taken an object's old row.
struct MovedRows {
    /// New rows, by the row in the old file.
    private var places: [Int64: Int64] = [:]
    /// The inverse: rows in the old file, by new row.
    private var origins: [Int64: Int64] = [:]
    /// Deleted objects, by their row in the old file.
    private var deleted: Set<Int64> = []

    /// Nil if the object was deleted.
    func row(of old: Int64) -> Int64? { deleted.contains(old) ? nil : places[old] ?? old }

    mutating func move(_ row: Int64, to new: Int64) {
        guard let old = origin(of: row) else { return }
        origins[row] = nil
        origins[new] = old
        places[old] = new
    }

    mutating func delete(_ row: Int64) {
        guard let old = origin(of: row) else { return }
        origins[row] = nil
        places[old] = nil
        deleted.insert(old)
    }

    /// Nil for an object that the block created in the row of an old object.
    private func origin(of row: Int64) -> Int64? {
        if let old = origins[row] { return old }
        return places[row] == nil && !deleted.contains(row) ? row : nil
    }
}
