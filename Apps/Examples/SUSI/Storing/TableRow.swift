import Tombolo

/// A row of a table: a cell for each of its columns.
class TableRow: Object {
    @Persisted var cells: List<String>

    convenience init(cells: [String]) {
        self.init()
        self.cells.append(objectsIn: cells)
    }
}
