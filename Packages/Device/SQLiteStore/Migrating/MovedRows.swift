/// Where a class's objects are whose integer key a migration's block changed, or which it deleted. Another object may be in
/// their old place.
struct MovedRows {
    /// By the row in the old file.
    private var places: [Int64: Int64] = [:]
    /// The other way round.
    private var origins: [Int64: Int64] = [:]
    /// By the row in the old file.
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

    /// Nil for an object that the block made where an old one was.
    private func origin(of row: Int64) -> Int64? {
        if let old = origins[row] { return old }
        return places[row] == nil && !deleted.contains(row) ? row : nil
    }
}
