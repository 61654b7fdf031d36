internal import TomboloModel
internal import TomboloSQL

extension SchemaStepBuilder {
    /// Renames tables and columns whose names in the schema have changed, along with everything named after them, and
    /// writes the new names to `tombolo.class` and `tombolo.class_column`. Later steps see the catalog after the
    /// renames.
    ///
    /// A class's triggers name its columns. The same step replaces them with triggers that fit the renamed columns,
    /// so that no writer meets the old ones.
    mutating func addRenamings() {
        var waiting = schema.classes.compactMap { ClassRenaming($0, live) }.filter(\.isNeeded)
        while !waiting.isEmpty {
            // A table may take the name that another one gives up.
            guard let next = waiting.firstIndex(where: { !$0.movesTable || live.tables[$0.item.table] == nil }) else {
                for renaming in waiting {
                    problems.append(
                        "Can't rename the table \(renaming.oldTable) of \(renaming.item.name) to "
                            + "\(renaming.item.table): a table of that name exists. Choose another name in "
                            + "tableName().")
                }
                return
            }
            rename(waiting.remove(at: next))
        }
    }

    private mutating func rename(_ renaming: ClassRenaming) {
        let item = renaming.item
        let hasTable = live.tables[renaming.oldTable] != nil
        var moves: [String] = []
        if hasTable {
            guard let columns = columnOrder(renaming) else { return }
            if renaming.movesTable { moves.append(moveTable(renaming.oldTable, to: item.table)) }
            for column in columns { moves.append(moveColumn(column, of: item)) }
            moves += moveNames(renaming)
        }
        var statements = moves.isEmpty ? [] : ["DO $rename$ BEGIN\n\(moves.joined(separator: "\n"))\nEND $rename$"]
        statements += recordNames(renaming)
        if hasTable { statements += interimTriggers(item) }
        let what = renaming.movesTable ? "\(renaming.oldTable) to \(item.table)" : "in \(item.table)"
        add("rename \(what)", statements.joined(separator: ";\n"))
    }

    /// Sorts the columns so that each new name is free when its turn comes.
    private mutating func columnOrder(_ renaming: ClassRenaming) -> [ClassRenaming.ColumnRenaming]? {
        var present = Set(live.tables[renaming.oldTable, default: [:]].keys)
        var waiting = renaming.columns.filter(\.movesColumn)
        var result: [ClassRenaming.ColumnRenaming] = []
        while !waiting.isEmpty {
            guard let next = waiting.firstIndex(where: { !present.contains($0.column.sqlName) }) else {
                for column in waiting {
                    problems.append(
                        "\(renaming.item.name).\(column.column.name): can't rename the column "
                            + "\(column.oldSQLName ?? "") to \(column.column.sqlName): a column of that name exists. "
                            + "Choose another name in propertiesMapping().")
                }
                return nil
            }
            let column = waiting.remove(at: next)
            if let old = column.oldSQLName { present.remove(old) }
            present.insert(column.column.sqlName)
            result.append(column)
        }
        return result
    }

    // MARK: The database

    private mutating func moveTable(_ old: String, to new: String) -> String {
        live.moveTable(old, to: new)
        return """
            IF to_regclass(\(name(old))) IS NOT NULL AND to_regclass(\(name(new))) IS NULL THEN
                ALTER TABLE public.\(quoted(old)) RENAME TO \(quoted(new));
            END IF;
            """
    }

    private mutating func moveColumn(_ renaming: ClassRenaming.ColumnRenaming, of item: ClassSchema) -> String {
        let (old, new) = (renaming.oldSQLName ?? "", renaming.column.sqlName)
        live.moveColumn(old, to: new, of: item.table)
        func exists(_ column: String) -> String {
            "EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(\(name(item.table))) "
                + "AND attname = \(dialect.literal(column)) AND NOT attisdropped)"
        }
        return """
            IF \(exists(old)) AND NOT \(exists(new)) THEN
                ALTER TABLE \(table(item)) RENAME COLUMN \(quoted(old)) TO \(quoted(new));
            END IF;
            """
    }

    /// Renames indexes and constraints whose names derive from tables and columns.
    private mutating func moveNames(_ renaming: ClassRenaming) -> [String] {
        let item = renaming.item
        let (old, new) = (renaming.oldTable, item.table)
        var result: [String] = []
        func oldNames(_ columns: [Column]) -> [String] { columns.map { renaming.oldSQLName(of: $0) } }
        var indexes: [(String, String)] = []
        for group in item.uniqueColumns.map({ $0.map { item.columns[$0] } }) {
            indexes.append(
                (SchemaName.unique(old, oldNames(group)), SchemaName.unique(new, group.map(\.sqlName))))
        }
        for column in item.columns {
            indexes.append((SchemaName.index(old, oldNames([column])), SchemaName.index(new, [column.sqlName])))
        }
        if item.isTrashable {
            for column in Self.trashIndexes {
                indexes.append((SchemaName.index(old, [column]), SchemaName.index(new, [column])))
            }
        }
        for (old, new) in indexes where old != new && live.indexes.contains(old) && !live.indexes.contains(new) {
            live.moveIndex(old, to: new)
            result.append("ALTER INDEX IF EXISTS public.\(quoted(old)) RENAME TO \(quoted(new));")
        }
        var constraints = item.columns.map {
            (SchemaName.foreignKey(old, renaming.oldSQLName(of: $0)), SchemaName.foreignKey(new, $0.sqlName))
        }
        constraints.append((SchemaName.rowSize(old), SchemaName.rowSize(new)))
        for (old, new) in constraints where old != new && live.moveConstraint(old, to: new, of: item.table) {
            result.append(
                """
                IF EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass(\(name(item.table))) \
                AND conname = \(dialect.literal(old))) THEN
                    ALTER TABLE \(table(item)) RENAME CONSTRAINT \(quoted(old)) TO \(quoted(new));
                END IF;
                """)
        }
        return result
    }

    /// A table's name for `to_regclass`.
    private func name(_ table: String) -> String { dialect.literal("public.\(quoted(table))") }

    // MARK: Our records

    private func recordNames(_ renaming: ClassRenaming) -> [String] {
        let item = renaming.item
        var result: [String] = []
        if let key = item.primaryKey {
            result.append(
                "UPDATE tombolo.class SET name = \(dialect.literal(item.name)), "
                    + "table_name = \(dialect.literal(item.table)), key_column = \(dialect.literal(key.sqlName)) "
                    + "WHERE id = \(renaming.id)")
        }
        // Two properties may swap names, so each first gets a temporary name that no property has.
        let numbers = renaming.columns.map { String($0.id) }.joined(separator: ", ")
        guard !numbers.isEmpty else { return result }
        result.append(
            "UPDATE tombolo.class_column SET name = '~' || id WHERE class = \(renaming.id) AND id IN (\(numbers))")
        for column in renaming.columns {
            result.append(
                "UPDATE tombolo.class_column SET name = \(dialect.literal(column.column.name)), "
                    + "sql_name = \(dialect.literal(column.column.sqlName)) "
                    + "WHERE class = \(renaming.id) AND id = \(column.id)")
        }
        return result
    }

    /// The trigger functions over the columns that the table already has.
    private mutating func interimTriggers(_ item: ClassSchema) -> [String] {
        let present = live.tables[item.table, default: [:]]
        let triggers = [SchemaName.logTrigger, SchemaName.changeTrigger].map { "\(item.table).\($0)" }
        guard !live.triggers.isDisjoint(with: triggers),
            let generator = TriggerGenerator(
                item: item, schema: schema, identifiers: identifiers, isPresent: { present[$0.sqlName] != nil })
        else { return [] }
        var result: [String] = []
        for (name, body) in generator.functions where live.functions[name] != body {
            live.setFunction(name, body)
            result.append(TriggerGenerator.definition(name: name, body: body))
        }
        return result
    }
}
