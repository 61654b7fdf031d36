import Tombolo

/// A row of a table, with a cell for each column.
class TableRow: Object {
    @Persisted var cells: List<String>

    convenience init(cells: [String]) {
        self.init()
        self.cells.append(objectsIn: cells)
    }
}
