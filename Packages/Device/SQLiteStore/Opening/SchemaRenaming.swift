internal import TomboloModel
internal import TomboloSQL

/// Finds the classes and properties of a synced file that an app update has renamed, by the previous names that the
/// classes declare. The tables and columns keep their rows, including those beneath queued edits. Nothing is renamed if
/// the file already has the new name or an old name still means something else.
///
/// Queued changesets keep their bytes, because the server may already have them. Every reader of changesets understands
/// the old names.
struct SchemaRenaming {
    /// New names of classes, by old name.
    private(set) var classes: [String: String] = [:]
    /// New names of properties, by the class's old name and then the property's old name.
    private(set) var properties: [String: [String: String]] = [:]
    /// The file's classes after renaming.
    private(set) var result: StoredSchema
    private(set) var statements: [String] = []
    private let before: StoredSchema

    var isEmpty: Bool { result == before }

    init(from stored: StoredSchema, to schema: Schema, _ target: StoredSchema) {
        before = stored
        result = stored
        nameClasses(schema, target)
        for item in stored.sorted { rename(item, schema, target) }
    }

    private mutating func nameClasses(_ schema: Schema, _ target: StoredSchema) {
        var tables = Set(before.classes.values.map(\.table))
        for item in schema.classes where before[item.name] == nil {
            let former = item.previousNames.first { before[$0] != nil && target[$0] == nil && classes[$0] == nil }
            guard let former, let old = before[former] else { continue }
            // Elements stay with the objects that have the list.
            if let owner = item.owner, (classes[old.rootName] ?? old.rootName) != owner.className { continue }
            // Skip it if another class's table has the name.
            guard old.table == item.table || !tables.contains(item.table) else { continue }
            tables.remove(old.table)
            tables.insert(item.table)
            classes[former] = item.name
        }
    }

    private mutating func rename(_ old: StoredClass, _ schema: Schema, _ target: StoredSchema) {
        let name = classes[old.name] ?? old.name
        var new = old
        if let wanted = target[name], let index = schema.index(of: name), schema[index].name == name {
            new = StoredClass(old, name: name, table: name == old.name ? old.table : wanted.table)
            nameProperties(&new, old, schema[index], wanted)
            if wanted.embeddedClass != nil, old.embeddedClass != nil { new.embeddedClass = wanted.embeddedClass }
        }
        for position in new.properties.indices {
            if case .link(let linked) = new.properties[position].type, let linked = classes[linked] {
                new.properties[position].type = .link(to: linked)
            }
        }
        guard new != old else { return }
        result.classes[old.name] = nil
        result.classes[name] = new
        write(old, new)
    }

    private mutating func nameProperties(
        _ item: inout StoredClass, _ old: StoredClass, _ schema: ClassSchema, _ target: StoredClass
    ) {
        for (position, column) in schema.columns.enumerated() {
            var place = old.index(of: column.name)
            if place == nil {
                place =
                    column.previousNames.lazy.filter { target.index(of: $0) == nil }.compactMap { old.index(of: $0) }
                    .first
                guard let found = place else { continue }
                let isTaken = item.properties.indices.contains {
                    $0 != found && item.properties[$0].column.lowercased() == column.sqlName.lowercased()
                }
                guard !isTaken, item.properties[found].name == old.properties[found].name else { continue }
                properties[old.name, default: [:]][old.properties[found].name] = column.name
                item.properties[found].name = column.name
                item.properties[found].column = column.sqlName
            }
            // The name of an embedded class isn't part of any table.
            if let place, case .embedded = item.properties[place].type,
                case .embedded = target.properties[position].type
            {
                item.properties[place].type = target.properties[position].type
            }
        }
    }

    // MARK: SQL

    private mutating func write(_ old: StoredClass, _ new: StoredClass) {
        func quoted(_ name: String) -> String { SQLDialect.sqlite.quoted(name) }
        let hasBeneath = old.keyIndex != nil
        var indexes: [StoredClass.Property] = []
        for (before, after) in zip(old.properties, new.properties)
        where before.isIndexed && (old.table != new.table || before.column != after.column) {
            statements.append(StoredSchema.dropIndex(before, of: old))
            indexes.append(after)
        }
        if old.table != new.table {
            statements.append("ALTER TABLE \(quoted(old.table)) RENAME TO \(quoted(new.table))")
            if hasBeneath {
                statements.append(
                    "ALTER TABLE \(TableLayout.beneath(old.table)) RENAME TO \(TableLayout.beneath(new.table))")
            }
        }
        for (before, after) in zip(old.properties, new.properties) where before.column != after.column {
            for table in [quoted(new.table)] + (hasBeneath ? [TableLayout.beneath(new.table)] : []) {
                statements.append(
                    "ALTER TABLE \(table) RENAME COLUMN \(quoted(before.column)) TO \(quoted(after.column))")
            }
        }
        statements += indexes.map { StoredSchema.createIndex($0, of: new) }
    }

    /// Renames everything. In the caller's transaction.
    func perform(_ connection: SQLiteConnection) throws {
        for statement in statements { try connection.execute(statement) }
        for old in before.sorted where result[old.name] != old {
            let delete = try connection.statement("DELETE FROM tombolo_class WHERE name = ?")
            delete.bind(.string(old.name), at: 1)
            try delete.run()
        }
        for new in result.sorted where before[new.name] != new {
            let insert = try connection.statement("INSERT INTO tombolo_class (name, description) VALUES (?, ?)")
            insert.bind(.string(new.name), at: 1)
            insert.bind(.string(new.text), at: 2)
            try insert.run()
        }
    }
}
