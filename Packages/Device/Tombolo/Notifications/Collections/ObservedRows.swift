internal import TomboloSQLiteStore

/// The rows of an observed collection, and the queries on some of them that keep it up to date. All refer to the
/// Realm's current version.
protocol ObservedRows {
    /// All rows of the collection, in order, or nil once the collection no longer exists.
    func all() -> [Int64]?
    /// Whether the owner of the collection was deleted, even if something else has taken the owner's place.
    func isGone(after changes: ChangeSet) -> Bool
    /// The rows that may have been inserted, deleted or moved, or nil if all may have.
    func touched(by changes: ChangeSet) -> RowIDSet?
    /// Whether comparing the whole collection is faster than placing this many rows in a collection of this size.
    func isLarge(_ touched: Int, of count: Int) -> Bool
    /// Rowids that now belong to another row.
    func replaced(by changes: ChangeSet) -> RowIDSet
    /// The rows among these that belong to the collection, in its order.
    func matching(_ rows: RowIDSet) -> [Int64]
    /// A comparison that caches what it reads; valid for one version.
    func order() -> RowOrder
    /// The rows of the collection whose objects have changed within the scope, or nil if all may have.
    func modified(by changes: ChangeSet, _ scope: ChangeScope) -> RowFilter?
}

/// Whether one row of a collection comes before another.
struct RowOrder {
    let precedes: (Int64, Int64) -> Bool
}
