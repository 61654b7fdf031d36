import Tombolo

/// A column of a table.
class TableColumn: Object {
    /// Its name in the data.
    @Persisted var original = ""
    /// Its name to show.
    @Persisted var changed = ""

    convenience init(_ column: Action.Column) {
        self.init()
        original = column.original
        changed = column.shown
    }
}
