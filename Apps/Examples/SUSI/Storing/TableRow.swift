import Tombolo

/// A row of a table: a cell for each of its columns.
class TableRow: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var cells: List<TableCell>

    convenience init(cells: [String]) {
        self.init()
        self.cells.append(objectsIn: cells.map { TableCell($0) })
    }
}
