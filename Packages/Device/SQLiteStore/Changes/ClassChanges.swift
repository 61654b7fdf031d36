/// The changes of one class's rows between two versions.
///
/// A rowid in both `inserted` and `deleted` had a row before and has a different one now. A row inserted in between is
/// only in `inserted`, whatever else happened to it. A row that was inserted and deleted is in neither.
package struct ClassChanges: Hashable, Sendable {
    package var inserted = RowIDSet()
    package var deleted = RowIDSet()
    /// Rows that existed before and still do, with the properties that were written, even if the values are the same.
    package var modified = ModifiedRows()
    /// Whether every row may have been changed, inserted or deleted, because there were too many changes or the changes
    /// are unknown. All other properties are then empty.
    package var isEverything = false

    package static let everything: ClassChanges = {
        var changes = ClassChanges()
        changes.isEverything = true
        return changes
    }()

    package init() {}

    package var isEmpty: Bool { !isEverything && inserted.isEmpty && deleted.isEmpty && modified.isEmpty }

    /// Adds later changes.
    package mutating func merge(_ later: ClassChanges) {
        if isEverything { return }
        if later.isEverything {
            self = .everything
            return
        }
        if !later.deleted.isEmpty {
            // Rows that didn't exist at the start leave no trace.
            deleted.formUnion(later.deleted.subtracting(inserted))
            inserted.subtract(later.deleted)
            modified.remove(later.deleted)
        }
        for (columns, rows) in later.modified.groups { modified.insert(rows.subtracting(inserted), columns) }
        inserted.formUnion(later.inserted)
        if modified.isTooLarge { self = .everything }
    }
}
