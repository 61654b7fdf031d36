internal import TomboloSQLiteStore

/// What keeping an observed collection up to date takes: rows in order, and questions about some of them. All on the
/// Realm's present version.
protocol ObservedRows {
    /// Every row of the collection, in its order; nil once there is no collection any more.
    func all() -> [Int64]?
    /// The rows that may have come, gone or moved; nil where all may have.
    func touched(by changes: ChangeSet) -> RowIDSet?
    /// Whether comparing the whole collection is faster than placing so many rows in one of so many.
    func isLarge(_ touched: Int, of count: Int) -> Bool
    /// Rowids that stand for another row than before.
    func replaced(by changes: ChangeSet) -> RowIDSet
    /// Those of the rows that belong to the collection, in its order.
    func matching(_ rows: RowIDSet) -> [Int64]
    /// A comparison that remembers what it has read; valid on one version.
    func order() -> RowOrder
    /// The rows of the collection whose objects have changed, as far as the app cares; nil where all may have.
    func modified(by changes: ChangeSet, _ scope: ChangeScope) -> RowFilter?
}

/// Whether one row of a collection comes before another.
struct RowOrder {
    let precedes: (Int64, Int64) -> Bool
}
