/// What happened to the rows of one class between two versions.
///
/// A rowid in both `inserted` and `deleted` had a row before and has another one now. A row that was made in between
/// is only `inserted`, whatever else was done to it; one that came and went is in none.
package struct ClassChanges: Hashable, Sendable {
    package var inserted = RowIDSet()
    package var deleted = RowIDSet()
    /// Rows that were there before and still are, with the properties that were written, to the same value or not.
    package var modified = ModifiedRows()
    /// Too much or nothing is known: every row may have changed, come or gone. The rest is empty then.
    package var isEverything = false

    package static let everything: ClassChanges = {
        var changes = ClassChanges()
        changes.isEverything = true
        return changes
    }()

    package init() {}

    package var isEmpty: Bool { !isEverything && inserted.isEmpty && deleted.isEmpty && modified.isEmpty }

    /// Adds what happened afterwards.
    package mutating func merge(_ later: ClassChanges) {
        if isEverything { return }
        if later.isEverything {
            self = .everything
            return
        }
        if !later.deleted.isEmpty {
            // Those of them that were not here at the beginning leave no trace.
            deleted.formUnion(later.deleted.subtracting(inserted))
            inserted.subtract(later.deleted)
            modified.remove(later.deleted)
        }
        for (columns, rows) in later.modified.groups { modified.insert(rows.subtracting(inserted), columns) }
        inserted.formUnion(later.inserted)
        if modified.isTooLarge { self = .everything }
    }
}
