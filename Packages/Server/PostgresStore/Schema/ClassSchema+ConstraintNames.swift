package import TomboloModel

extension ClassSchema {
    /// The name of the unique index over the columns at these positions.
    package func uniqueIndexName(_ columns: [Int]) -> String {
        SchemaName.unique(table, columns.map { self.columns[$0].sqlName })
    }

    /// The name of the foreign key of the link column at this position.
    package func foreignKeyName(_ column: Int) -> String { SchemaName.foreignKey(table, columns[column].sqlName) }
}
