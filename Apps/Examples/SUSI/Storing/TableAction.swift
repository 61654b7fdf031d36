import Tombolo

/// A table to show.
class TableAction: Object {
    @Persisted var columns: List<TableColumn>
    @Persisted var rows: List<TableRow>

    convenience init(columns: [Action.Column], rows: [[String]]) {
        self.init()
        self.columns.append(objectsIn: columns.map { TableColumn($0) })
        self.rows.append(objectsIn: rows.map { TableRow(cells: $0) })
    }
}
