import Tombolo

/// A column of a table.
class TableColumn: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
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
