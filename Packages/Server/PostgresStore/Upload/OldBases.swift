/// Some of a group's bases are too old. The transaction is rolled back and begins again; only the changesets that have these
/// bases are answered with `unknownBase`.
struct OldBases: Error, CustomStringConvertible {
    /// Positions in the group of changesets since whose bases more was inserted than ``BulkRowSearch`` goes through.
    /// Empty if a base fell below the retention floor meanwhile: the next attempt doesn't find it.
    let positions: Set<Int>

    static let dropped = OldBases(positions: [])

    var description: String {
        positions.isEmpty
            ? "the changelog no longer reaches back to a base"
            : "too many rows were inserted since the bases of \(positions.count) changesets"
    }
}
