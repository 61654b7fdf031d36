internal import TomboloModel

/// The table operations of migrations.
enum MigrationTables {
    private static let gonePrefix = "tombolo$gone$"
    private static let rebuiltPrefix = "tombolo_rebuilt_"

    /// Gives tables and columns the names that the app uses, and renames removed columns so that they aren't in the
    /// way.
    /// - Parameter current: the classes in the file. Updated accordingly.
    /// - Returns: the new names of removed columns, by class and property.
    static func setAside(
        _ current: inout StoredSchema, _ target: StoredSchema, _ connection: SQLiteConnection
    ) throws -> [String: [String: String]] {
        var gone: [String: [String: String]] = [:]
        for item in target.sorted {
            guard var old = current[item.name], old != item else { continue }
            let table = MigrationSide.quoted(old.table)
            var left: [StoredClass.Property] = []
            for property in old.properties where property.isIndexed {
                try connection.execute(StoredSchema.dropIndex(property, of: old))
            }
            for property in old.properties where item.index(of: property.name) == nil {
                let name = gonePrefix + property.column
                try rename(property.column, to: name, in: table, connection)
                gone[item.name, default: [:]][property.name] = name
            }
            for var property in old.properties {
                if let position = item.index(of: property.name), item.properties[position].column != property.column {
                    try rename(property.column, to: item.properties[position].column, in: table, connection)
                    property.column = item.properties[position].column
                }
                if let name = gone[item.name]?[property.name] { property.column = name }
                left.append(property)
            }
            old.properties = left
            if old.table != item.table {
                try connection.execute("ALTER TABLE \(table) RENAME TO \(MigrationSide.quoted(item.table))")
                old.table = item.table
            }
            current.classes[item.name] = old
        }
        return gone
    }

    private static func rename(
        _ column: String, to name: String, in table: String, _ connection: SQLiteConnection
    ) throws {
        try connection.execute(
            "ALTER TABLE \(table) RENAME COLUMN \(MigrationSide.quoted(column)) TO \(MigrationSide.quoted(name))")
    }

    /// A table in its new form, filled with the old table's rows. It exists beside the old table until ``swap(_:_:)``
    /// replaces that.
    struct Rebuild {
        let item: StoredClass
        /// The old table, or nil for a table that starts empty.
        let source: StoredClass?
        /// An expression on the old row `s` for each column of `item`.
        let columns: [SQLPart]
        /// Additional columns to keep: definition and name.
        let others: [(definition: String, name: String)]
        /// Positions of the columns that must have a value. Rows without one are left out.
        let required: [Int]
    }

    static func fill(_ rebuild: Rebuild, in schema: StoredSchema, _ connection: SQLiteConnection) throws {
        let item = rebuild.item
        let name = rebuiltPrefix + item.table
        try connection.execute(schema.createTable(item, as: name, with: rebuild.others.map(\.definition)))
        guard let source = rebuild.source else { return }
        var names = item.properties.map { MigrationSide.quoted($0.column) }
        var parts = rebuild.columns
        // An integer key is the rowid.
        if schema.keyType(of: item.name) != .int(bits: 64) || item.keyIndex == nil {
            let row = item.keyIndex == nil ? MigrationSide.quoted(StoredSchema.rowColumn) : "rowid"
            names.insert(row, at: 0)
            parts.insert(SQLPart(sql: "s.rowid"), at: 0)
        }
        for other in rebuild.others {
            names.append(MigrationSide.quoted(other.name))
            parts.append(SQLPart(sql: "s.\(MigrationSide.quoted(other.name))"))
        }
        var sql =
            "INSERT INTO \(MigrationSide.quoted(name)) (\(names.joined(separator: ", "))) "
            + "SELECT \(parts.map(\.sql).joined(separator: ", ")) FROM \(MigrationSide.quoted(source.table)) AS s"
        var values = parts.flatMap(\.values)
        if !rebuild.required.isEmpty {
            let conditions = rebuild.required.map { rebuild.columns[$0] }
            sql += " WHERE " + conditions.map { "\($0.sql) IS NOT NULL" }.joined(separator: " AND ")
            values += conditions.flatMap(\.values)
        }
        try connection.run(SQLPart(sql: sql + " ORDER BY s.rowid", values: values))
    }

    /// Call this once all tables have been filled from each other's old forms.
    static func swap(_ rebuild: Rebuild, _ connection: SQLiteConnection) throws {
        let table = MigrationSide.quoted(rebuild.item.table)
        try connection.execute("DROP TABLE \(table)")
        try connection.execute(
            "ALTER TABLE \(MigrationSide.quoted(rebuiltPrefix + rebuild.item.table)) RENAME TO \(table)")
    }
}
