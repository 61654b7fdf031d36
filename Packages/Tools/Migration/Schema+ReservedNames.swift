import TomboloModel

extension Schema {
    /// What a class with a trash has for it, by which the server finds and deletes what lies there.
    private static let trashColumns: Set<String> = ["trashed_at", "trashed_by", "trash_group", "trash_reason"]

    /// Names of tables and columns that mean something else already, as sentences; empty for none.
    var reservedNameProblems: [String] {
        classes.flatMap { item in
            var problems: [String] = []
            if item.table.hasPrefix("pg_") {
                problems.append(
                    "\(item.name): PostgreSQL keeps names of tables that begin with pg_, such as \(item.table), for itself: "
                        + "give the class another table.")
            }
            if item.isTrashable {
                problems += item.columns.filter { Self.trashColumns.contains($0.sqlName) }.map {
                    "\(item.name).\($0.name): the column \($0.sqlName) says that an object is in the trash: give the property "
                        + "another name."
                }
            }
            return problems
        }
    }
}
