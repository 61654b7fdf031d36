import Tombolo

/// A cell of a table.
class TableCell: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var text = ""

    convenience init(_ text: String) {
        self.init()
        self.text = text
    }
}
