internal import TomboloModel

/// What has another name in the database than in a class. Columns are matched by the numbers that the database
/// assigned, so a renamed property keeps its column, and by `previousNames`, so nothing is guessed.
struct ClassRenaming {
    struct ColumnRenaming {
        let id: Int16
        let column: Column
        let oldName: String
        /// Nil if the database has no such column.
        let oldSQLName: String?

        var movesColumn: Bool { oldSQLName.map { $0 != column.sqlName } ?? false }
        var isNeeded: Bool { oldName != column.name || movesColumn }
    }

    let item: ClassSchema
    let id: Int16
    let oldName: String
    let oldTable: String
    /// The columns that need renaming.
    let columns: [ColumnRenaming]

    var movesTable: Bool { oldTable != item.table }
    var isNeeded: Bool { oldName != item.name || movesTable || !columns.isEmpty }

    /// - Returns: nil for a class without a number in the database.
    init?(_ item: ClassSchema, _ live: PostgresCatalog) {
        let identifiers = live.identifiers
        oldName = identifiers.formerName(of: item) ?? item.name
        guard let id = identifiers.classes[oldName] else { return nil }
        self.item = item
        self.id = id
        let recorded = identifiers.tables[oldName] ?? item.table
        oldTable = live.tables[recorded] == nil ? item.table : recorded
        let present = live.tables[oldTable] ?? [:]
        let known = identifiers.columns[oldName] ?? [:]
        let sqlNames = identifiers.sqlNames[oldName] ?? [:]
        columns = item.columns.compactMap { column in
            let name = SchemaIdentifiers.formerName(column.name, column.previousNames, known) ?? column.name
            guard let id = known[name] else { return nil }
            let candidates = [sqlNames[name], column.sqlName, Column.sqlName(for: name)]
            let sqlName = candidates.compactMap { $0 }.first { present[$0] != nil }
            let renaming = ColumnRenaming(id: id, column: column, oldName: name, oldSQLName: sqlName)
            return renaming.isNeeded ? renaming : nil
        }
    }

    /// The name that a column has in the database.
    func oldSQLName(of column: Column) -> String {
        columns.first { $0.column.name == column.name }?.oldSQLName ?? column.sqlName
    }
}
