/// Some of a group's bases are too old. The transaction is rolled back and starts again; the changesets with these
/// bases, and only those, are answered with `unknownBase`.
struct OldBases: Error, CustomStringConvertible {
    /// Positions in the group of changesets with more inserts since their base than ``BulkRowSearch`` goes through.
    /// Empty if a base fell below the retention floor meanwhile: the next attempt won't find that base.
    let positions: Set<Int>

    static let dropped = OldBases(positions: [])

    var description: String {
        positions.isEmpty
            ? "the changelog no longer reaches back to a base"
            : "too many rows were inserted since the bases of \(positions.count) changesets"
    }
}
