internal import TomboloModel
internal import TomboloSQL

/// Definitions of tables, columns and indexes.
extension StoredSchema {
    /// The column that stores the rowid in tables of classes without a primary key. Links point to it, so compacting
    /// the file mustn't change it. No property can have this name.
    static var rowColumn: String { TableLayout.rowid }

    private static func quoted(_ name: String) -> String { SQLDialect.sqlite.quoted(name) }

    /// - Parameters:
    ///   - name: the table's name if it differs from the class's table name, unquoted.
    ///   - others: definitions of additional columns.
    func createTable(_ item: StoredClass, as name: String? = nil, with others: [String] = []) -> String {
        var columns = item.properties.map { property in
            property.isPrimaryKey
                ? "\(Self.quoted(property.column)) \(columnType(of: property)) PRIMARY KEY NOT NULL"
                : definition(of: property)
        }
        if item.keyIndex == nil { columns.insert("\(Self.quoted(Self.rowColumn)) INTEGER PRIMARY KEY", at: 0) }
        return "CREATE TABLE \(Self.quoted(name ?? item.table)) (\((columns + others).joined(separator: ", ")))"
    }

    /// The table of the server's rows. Its columns allow NULL, because it can also record that a row doesn't exist.
    func createBeneath(_ item: StoredClass) -> String {
        var columns = item.properties.map { property in
            "\(Self.quoted(property.column)) \(columnType(of: property))"
                + (property.isPrimaryKey ? " PRIMARY KEY NOT NULL" : "")
        }
        columns.append("\(Self.quoted(TableLayout.presence)) INTEGER NOT NULL")
        return "CREATE TABLE \(TableLayout.beneath(item.table)) (\(columns.joined(separator: ", ")))"
    }

    func columnType(of property: StoredClass.Property) -> String {
        property.isEncrypted ? "BLOB" : SQLDialect.sqlite.columnType(of: storedType(of: property))
    }

    /// A required column has a default, for rows created before the column was added.
    func definition(of property: StoredClass.Property, takesNull: Bool = false) -> String {
        let definition = "\(Self.quoted(property.column)) \(columnType(of: property))"
        guard !property.isOptional else { return definition }
        let zero = property.isEncrypted ? "x''" : SQLDialect.sqlite.zeroLiteral(of: storedType(of: property))
        return definition + (takesNull ? "" : " NOT NULL") + " DEFAULT \(zero)"
    }

    /// The rows beneath get the default too, because they may return to the table.
    func addColumn(_ property: StoredClass.Property, to item: StoredClass, hasBeneath: Bool) -> [String] {
        var statements = ["ALTER TABLE \(Self.quoted(item.table)) ADD COLUMN \(definition(of: property))"]
        if hasBeneath {
            statements.append(
                "ALTER TABLE \(TableLayout.beneath(item.table)) ADD COLUMN "
                    + definition(of: property, takesNull: true))
        }
        return statements
    }

    static func dropColumn(_ column: String, of item: StoredClass, hasBeneath: Bool) -> [String] {
        let tables = [quoted(item.table)] + (hasBeneath ? [TableLayout.beneath(item.table)] : [])
        return tables.map { "ALTER TABLE \($0) DROP COLUMN \(quoted(column))" }
    }

    static func createIndex(_ property: StoredClass.Property, of item: StoredClass) -> String {
        "CREATE INDEX IF NOT EXISTS \(indexName(property, item)) ON \(quoted(item.table)) (\(quoted(property.column)))"
    }

    static func dropIndex(_ property: StoredClass.Property, of item: StoredClass) -> String {
        "DROP INDEX IF EXISTS \(indexName(property, item))"
    }

    private static func indexName(_ property: StoredClass.Property, _ item: StoredClass) -> String {
        quoted("\(TableLayout.reservedPrefix)index_\(item.table)_\(property.column)")
    }
}
