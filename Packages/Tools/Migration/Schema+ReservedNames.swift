import TomboloModel

extension Schema {
    /// The columns that a class with a trash gets, with which the server finds and deletes what is in the trash.
    private static let trashColumns: Set<String> = ["trashed_at", "trashed_by", "trash_group", "trash_reason"]

    /// Problems with names of tables and columns that already have another meaning, as sentences. Empty if there are
    /// none.
    var reservedNameProblems: [String] {
        classes.flatMap { item in
            var problems: [String] = []
            if item.table.hasPrefix("pg_") {
                problems.append(
                    "\(item.name): PostgreSQL reserves table names that start with pg_, such as \(item.table): give "
                        + "the class another table.")
            }
            if item.isTrashable {
                problems += item.columns.filter { Self.trashColumns.contains($0.sqlName) }.map {
                    "\(item.name).\($0.name): the column \($0.sqlName) is reserved for the trash: give the property "
                        + "another name."
                }
            }
            return problems
        }
    }
}
