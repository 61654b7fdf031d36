package import TomboloModel

extension ClassSchema {
    /// The name of the index that keeps values of columns, by their positions, apart.
    package func uniqueIndexName(_ columns: [Int]) -> String {
        SchemaName.unique(table, columns.map { self.columns[$0].sqlName })
    }

    /// The name of the constraint on the links of a column, by its position.
    package func foreignKeyName(_ column: Int) -> String { SchemaName.foreignKey(table, columns[column].sqlName) }
}
