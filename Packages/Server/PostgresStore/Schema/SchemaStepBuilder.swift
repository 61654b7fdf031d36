internal import TomboloModel
internal import TomboloSQL

/// Compares a live catalog with a schema and collects the steps between them.
struct SchemaStepBuilder {
    let schema: Schema
    /// The catalog as it will be before the next step.
    var live: PostgresCatalog
    let identifiers: SchemaIdentifiers
    let dialect = SQLDialect.postgresql
    /// Whether indexes on existing tables are built while their writers wait.
    private let writersMayWait: Bool
    private(set) var steps: [SchemaStep] = []
    var problems: [String] = []

    init(schema: Schema, live: PostgresCatalog, writersMayWait: Bool = false) {
        self.schema = schema
        self.live = live
        self.writersMayWait = writersMayWait
        identifiers = live.identifiers.covering(schema)
    }

    mutating func build() {
        addSystem()
        addRenamings()
        addIdentifiers()
        for item in schema.classes { addTable(item) }
        for item in schema.classes { addColumns(item) }
        for item in schema.classes { addRowSizeCheck(item) }
        let deferred = DeferredKeys(schema)
        for (index, item) in schema.classes.enumerated() {
            addForeignKeys(item, deferrable: deferred.columns[index] ?? [])
        }
        for (index, item) in schema.classes.enumerated() {
            addDeferral(item, isNeeded: deferred.deleting.contains(index))
        }
        for item in schema.classes { dropRetiredUniqueness(item) }
        for item in schema.classes { addIndexes(item) }
        for item in schema.classes where item.isTrashable { addPolicy(item) }
        for item in schema.classes where item.isTrashable { addTrash(item) }
        for item in schema.classes where item.primaryKeyIndex != nil { addTriggers(item) }
    }

    mutating func add(_ name: String, _ sql: String, isTransactional: Bool = true) {
        steps.append(SchemaStep(name: name, sql: sql, isTransactional: isTransactional))
    }

    func quoted(_ name: String) -> String { dialect.quoted(name) }

    func table(_ item: ClassSchema) -> String { "public.\(quoted(item.table))" }

    // MARK: Numbers of classes and columns

    private mutating func addIdentifiers() {
        var classes: [String] = []
        var columns: [String] = []
        var sqlNames: [String] = []
        for item in schema.classes {
            guard let id = identifiers.classes[item.name], let key = item.primaryKey else { continue }
            // Renamed classes have their numbers under another name.
            let name = live.identifiers.formerName(of: item) ?? item.name
            let known = live.identifiers.columns[name] ?? [:]
            if live.identifiers.classes[name] == nil {
                let expression = KeyText.parsingExpression("$1", schema.storedType(of: key))
                classes.append(
                    "(\(id), \(dialect.literal(item.name)), \(dialect.literal(item.table)), "
                        + "\(dialect.literal(key.sqlName)), \(dialect.literal(expression)), \(item.isTrashable))")
            }
            for column in item.columns {
                guard let number = identifiers.columns[item.name]?[column.name],
                    SchemaIdentifiers.formerName(column.name, column.previousNames, known) == nil
                else { continue }
                let sqlName = dialect.literal(column.sqlName)
                if known[column.name] == nil {
                    columns.append("(\(id), \(number), \(dialect.literal(column.name)), \(sqlName))")
                } else if live.identifiers.sqlNames[name]?[column.name] == nil {
                    sqlNames.append(
                        "UPDATE tombolo.class_column SET sql_name = \(sqlName) "
                            + "WHERE class = \(id) AND id = \(number) AND sql_name IS NULL")
                }
            }
        }
        guard !classes.isEmpty || !columns.isEmpty || !sqlNames.isEmpty else { return }
        var statements: [String] = []
        if !classes.isEmpty {
            statements.append(
                "INSERT INTO tombolo.class (id, name, table_name, key_column, key_expression, is_trashable) VALUES "
                    + classes.joined(separator: ", ") + " ON CONFLICT (id) DO NOTHING")
        }
        if !columns.isEmpty {
            statements.append(
                "INSERT INTO tombolo.class_column (class, id, name, sql_name) VALUES "
                    + columns.joined(separator: ", ") + " ON CONFLICT (class, id) DO NOTHING")
        }
        statements += sqlNames
        add("numbers of classes and columns", statements.joined(separator: ";\n"))
    }

    // MARK: Tables

    private func columnDefinition(_ column: Column, of item: ClassSchema) -> String {
        var definition = dialect.columnDefinition(of: column, in: schema)
        // Old services insert without columns that they don't know, and new ones without retired columns.
        if !column.isOptional, !column.isPrimaryKey, item.owner == nil || column.isRetired, column.linkTarget == nil {
            definition += " DEFAULT \(zero(of: column))"
        }
        return definition
    }

    private func zero(of column: Column) -> String {
        if case .array = column.type {
            return "'\\x\(ArrayCoding.empty.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())'"
        }
        return dialect.zeroLiteral(of: schema.storedType(of: column))
    }

    private static let trashColumns = [
        ("trashed_at", "timestamptz", "timestamp with time zone"), ("trashed_by", "text COLLATE \"C\"", "text"),
        ("trash_group", "uuid", "uuid"), ("trash_reason", "text COLLATE \"C\"", "text"),
    ]

    /// The trash is listed and purged by time, and restored by group.
    static let trashIndexes = ["trash_group", "trashed_at"]

    private mutating func addTable(_ item: ClassSchema) {
        guard live.tables[item.table] == nil else { return }
        if let kind = live.otherRelations[item.table] ?? indexOwner(item.table).map({ "an index of the table \($0)" }) {
            problems.append(
                "\(item.name) needs the table \(item.table), but \(kind) already has that name: choose another name in "
                    + "tableName().")
            return
        }
        var lines = item.columns.map { columnDefinition($0, of: item) }
        if item.isTrashable {
            lines += Self.trashColumns.map { "\(quoted($0.0)) \($0.1)" }
        }
        if let key = item.primaryKey { lines.append("PRIMARY KEY (\(quoted(key.sqlName)))") }
        add(
            "table \(item.table)",
            "CREATE TABLE IF NOT EXISTS \(table(item)) (\n    \(lines.joined(separator: ",\n    "))\n)")
    }

    /// The table that gets an index with this name.
    private func indexOwner(_ name: String) -> String? {
        schema.classes.first { item in
            if item.primaryKeyIndex != nil, name == "\(item.table)_pkey" { return true }
            return item.columns.contains { name == SchemaName.index(item.table, [$0.sqlName]) }
                || item.isTrashable && Self.trashIndexes.contains { name == SchemaName.index(item.table, [$0]) }
                || item.uniqueColumns.contains {
                    name == SchemaName.unique(item.table, $0.map { item.columns[$0].sqlName })
                }
        }?.table
    }

    private mutating func addColumns(_ item: ClassSchema) {
        guard let present = live.tables[item.table] else { return }
        for column in item.columns {
            guard let found = present[column.sqlName] else {
                guard !column.isPrimaryKey else {
                    problems.append("\(item.table) has no primary key \(column.sqlName): create a new table instead.")
                    continue
                }
                add(
                    "column \(item.table).\(column.sqlName)",
                    "ALTER TABLE \(table(item)) ADD COLUMN IF NOT EXISTS \(columnDefinition(column, of: item))")
                continue
            }
            let expected = dialect.castType(of: schema.storedType(of: column))
            let expectedType = expected == "timestamptz" ? "timestamp with time zone" : expected
            if found.type != expectedType {
                problems.append(
                    "\(item.table).\(column.sqlName) is of type \(found.type), but the model says \(expectedType): "
                        + "if devices know the property, add a new one, copy the values, then remove the old one; if none "
                        + "does yet, run ALTER TABLE \(table(item)) ALTER COLUMN \(quoted(column.sqlName)) TYPE \(expected)."
                )
            } else if found.isRequired, column.isOptional {
                add(
                    "optional \(item.table).\(column.sqlName)",
                    "ALTER TABLE \(table(item)) ALTER COLUMN \(quoted(column.sqlName)) DROP NOT NULL")
            } else if !found.isRequired, !column.isOptional {
                problems.append(
                    "\(item.table).\(column.sqlName) may be NULL, but the model says that it's required: "
                        + "fill it and run ALTER TABLE … SET NOT NULL, or make the property optional.")
            } else if column.isRetired, found.isRequired, !found.hasDefault, !column.isPrimaryKey,
                column.linkTarget == nil
            {
                add(
                    "default of \(item.table).\(column.sqlName)",
                    "ALTER TABLE \(table(item)) ALTER COLUMN \(quoted(column.sqlName)) SET DEFAULT \(zero(of: column))")
            }
        }
        if item.isTrashable {
            for (name, type, _) in Self.trashColumns where present[name] == nil {
                add(
                    "column \(item.table).\(name)",
                    "ALTER TABLE \(table(item)) ADD COLUMN IF NOT EXISTS \(quoted(name)) \(type)")
            }
        }
        let known = Set(item.columns.map(\.sqlName) + Self.trashColumns.map(\.0))
        for (name, column) in present.sorted(by: { $0.key < $1.key })
        where !known.contains(name) && !name.isEmpty && column.isRequired && !column.hasDefault {
            // The model dropped the property, and writers that don't know the column must not fail.
            add(
                "optional \(item.table).\(name)",
                "ALTER TABLE \(table(item)) ALTER COLUMN \(quoted(name)) DROP NOT NULL")
        }
    }

    /// A row larger than a message could not be sent to any device. Rows that already exist aren't checked.
    private mutating func addRowSizeCheck(_ item: ClassSchema) {
        guard let condition = dialect.rowSizeCheck(of: item, in: schema) else { return }
        let name = SchemaName.rowSize(item.table)
        let columns = dialect.sizedColumns(of: item, in: schema).map(\.sqlName).sorted()
        guard live.checks["\(item.table).\(name)"] != columns else { return }
        let validity = live.tables[item.table] == nil ? "" : " NOT VALID"
        add(
            "size of the rows of \(item.table)",
            "ALTER TABLE \(table(item)) DROP CONSTRAINT IF EXISTS \(quoted(name)), ADD CONSTRAINT \(quoted(name)) "
                + "CHECK (\(condition))\(validity)")
    }

    private mutating func addForeignKeys(_ item: ClassSchema, deferrable: Set<Int>) {
        for (index, column) in item.columns.enumerated() {
            guard let target = column.linkTarget.flatMap({ schema[$0] }), let key = target.primaryKey else { continue }
            let name = SchemaName.foreignKey(item.table, column.sqlName)
            let action = column.deleteAction
            let present = live.foreignKeys["\(item.table).\(name)"]
            let deferral = deferrable.contains(index) ? "DEFERRABLE INITIALLY IMMEDIATE" : "NOT DEFERRABLE"
            // A key that refuses deletions was there before the model did, and isn't ours to change.
            guard present != .other else { continue }
            guard present != action else {
                if deferrable.contains(index), !live.deferrableKeys.contains("\(item.table).\(name)") {
                    add(
                        "deferral of foreign key \(name)",
                        "ALTER TABLE \(table(item)) ALTER CONSTRAINT \(quoted(name)) \(deferral)")
                }
                continue
            }
            add(
                present == nil ? "foreign key \(name)" : "delete rule of foreign key \(name)",
                "ALTER TABLE \(table(item)) DROP CONSTRAINT IF EXISTS \(quoted(name)), ADD CONSTRAINT \(quoted(name)) "
                    + "FOREIGN KEY (\(quoted(column.sqlName))) REFERENCES \(table(target)) (\(quoted(key.sqlName))) "
                    + "ON DELETE \(action.rawValue) \(deferral)")
        }
    }

    private mutating func addDeferral(_ item: ClassSchema, isNeeded: Bool) {
        let name = SchemaName.deferralTrigger
        guard live.triggers.contains("\(item.table).\(name)") != isNeeded else { return }
        add(
            "deferred keys of deletions in \(item.table)",
            isNeeded
                ? """
                CREATE OR REPLACE TRIGGER \(name) BEFORE DELETE ON \(table(item)) FOR EACH STATEMENT \
                EXECUTE FUNCTION tombolo.\(SystemFunction.deferKeys.name)();
                ALTER TABLE \(table(item)) ENABLE ALWAYS TRIGGER \(name)
                """ : "DROP TRIGGER IF EXISTS \(name) ON \(table(item))")
    }

    /// New versions leave retired properties at their default, so all their rows would have the same value there.
    private mutating func dropRetiredUniqueness(_ item: ClassSchema) {
        let retired = Set(item.columns.filter(\.isRetired).map(\.sqlName))
        for (name, index) in live.uniqueIndexes.sorted(by: { $0.key < $1.key })
        where index.table == item.table && !retired.isDisjoint(with: index.columns)
            && name == SchemaName.unique(index.table, index.columns)
        {
            add("no more index \(name)", "DROP INDEX IF EXISTS public.\(quoted(name))")
        }
    }

    private mutating func addIndexes(_ item: ClassSchema) {
        let isNew = live.tables[item.table] == nil
        for columns in item.uniqueColumns where !columns.contains(where: { item.columns[$0].isRetired }) {
            let names = columns.map { item.columns[$0].sqlName }
            addIndex(
                SchemaName.unique(item.table, names), on: item, names, unique: true, isNew: isNew,
                condition: item.isTrashable ? " WHERE \(quoted("trashed_at")) IS NULL" : "")
        }
        for column in item.columns where !column.isPrimaryKey && (column.isIndexed || column.linkTarget != nil) {
            addIndex(
                SchemaName.index(item.table, [column.sqlName]), on: item, [column.sqlName], unique: false,
                isNew: isNew, condition: "")
        }
        if item.isTrashable {
            for column in Self.trashIndexes {
                addIndex(
                    SchemaName.index(item.table, [column]), on: item, [column], unique: false, isNew: isNew,
                    condition: " WHERE \(quoted(column)) IS NOT NULL")
            }
        }
    }

    private mutating func addIndex(
        _ name: String, on item: ClassSchema, _ columns: [String], unique: Bool, isNew: Bool, condition: String
    ) {
        if unique, !condition.isEmpty, live.uniqueIndexes[name] != nil, !live.partialIndexes.contains(name) {
            return replaceIndex(name, on: item, columns, condition: condition)
        }
        guard !live.indexes.contains(name) else { return }
        let list = columns.map(quoted).joined(separator: ", ")
        let kind = unique ? "UNIQUE INDEX" : "INDEX"
        // On a table in use, the index is built without blocking writers. A failed build leaves an invalid index.
        let isTransactional = isNew || writersMayWait
        let concurrently = isTransactional ? "" : " CONCURRENTLY"
        if !isNew { add("leftover of index \(name)", "DROP INDEX IF EXISTS public.\(quoted(name))") }
        add(
            "index \(name)",
            "CREATE \(kind)\(concurrently) IF NOT EXISTS \(quoted(name)) ON \(table(item)) (\(list))\(condition)",
            isTransactional: isTransactional)
    }

    /// Used when a class gets a trash: its uniqueness then applies only to live rows. The old index is dropped once
    /// the new one exists.
    private mutating func replaceIndex(
        _ name: String, on item: ClassSchema, _ columns: [String], condition: String
    ) {
        let replacement = SchemaName.replacement(ofIndex: name)
        let list = columns.map(quoted).joined(separator: ", ")
        add("leftover of index \(replacement)", "DROP INDEX IF EXISTS public.\(quoted(replacement))")
        add(
            "index \(replacement)",
            "CREATE UNIQUE INDEX\(writersMayWait ? "" : " CONCURRENTLY") IF NOT EXISTS \(quoted(replacement)) "
                + "ON \(table(item)) (\(list))\(condition)",
            isTransactional: writersMayWait)
        add(
            "index \(name) of live rows",
            """
            DO $replace$ BEGIN
                IF to_regclass(\(dialect.literal("public.\(quoted(replacement))"))) IS NOT NULL THEN
                    DROP INDEX IF EXISTS public.\(quoted(name));
                    ALTER INDEX public.\(quoted(replacement)) RENAME TO \(quoted(name));
                END IF;
            END $replace$
            """)
    }

    // MARK: Trash

    /// Gives a class its trash once its table is ready: adds the triggers, and tells the functions about it.
    private mutating func addTrash(_ item: ClassSchema) {
        guard item.primaryKeyIndex != nil, let id = identifiers.classes[item.name] else { return }
        func trigger(_ name: String, _ when: String, _ condition: String, _ function: String) -> [String] {
            guard !live.triggers.contains("\(item.table).\(name)") else { return [] }
            return [
                "CREATE OR REPLACE TRIGGER \(name) \(when) UPDATE OF trashed_at ON \(table(item)) FOR EACH ROW "
                    + "WHEN (\(condition)) EXECUTE FUNCTION tombolo.\(function)()",
                "ALTER TABLE \(table(item)) ENABLE ALWAYS TRIGGER \(name)",
            ]
        }
        let goes = "OLD.trashed_at IS NULL AND NEW.trashed_at IS NOT NULL"
        var statements = trigger(
            SchemaName.trashGroupTrigger, "BEFORE", "\(goes) AND NEW.trash_group IS NULL", "name_trash_group")
        // A database of an earlier version has restore functions that don't know the column.
        statements += trigger(
            SchemaName.trashReasonTrigger, "BEFORE",
            "OLD.trashed_at IS NOT NULL AND NEW.trashed_at IS NULL AND NEW.trash_reason IS NOT NULL",
            "forget_trash_reason")
        if schema.classes.contains(where: { other in
            other.isTrashable && other.columns.contains { $0.linkTarget == item.name }
        }) {
            statements += trigger(SchemaName.trashTrigger, "AFTER", goes, "take_along")
        }
        if live.identifiers.classes.values.contains(id), !live.trashableClasses.contains(id) {
            statements.append("UPDATE tombolo.class SET is_trashable = true WHERE id = \(id)")
        }
        guard !statements.isEmpty else { return }
        add("trash of \(item.table)", statements.joined(separator: ";\n"))
    }

    private mutating func addPolicy(_ item: ClassSchema) {
        guard !live.policies.contains("\(item.table).\(SchemaName.livePolicy)") else { return }
        add(
            "row-level security of \(item.table)",
            """
            ALTER TABLE \(table(item)) ENABLE ROW LEVEL SECURITY;
            DROP POLICY IF EXISTS \(SchemaName.livePolicy) ON \(table(item));
            CREATE POLICY \(SchemaName.livePolicy) ON \(table(item)) FOR ALL TO PUBLIC \
            USING (trashed_at IS NULL) WITH CHECK (trashed_at IS NULL)
            """)
    }

    // MARK: Triggers

    private mutating func addTriggers(_ item: ClassSchema) {
        guard let generator = TriggerGenerator(item: item, schema: schema, identifiers: identifiers) else { return }
        let changed = generator.functions.filter { live.functions[$0.name] != $0.body }
        let images = generator.imageFunctions.filter { live.functions[$0.name] != $0.body }
        if !images.isEmpty { add("images of \(item.table)", images.map(\.sql).joined(separator: ";\n")) }
        let all = generator.triggers(rowByRow: live.rowLoggedTables.contains(item.table))
        let triggers = all.wanted.filter { !live.triggers.contains("\(item.table).\($0.name)") }
        let unwanted = all.unwanted.filter { live.triggers.contains("\(item.table).\($0)") }
        guard !changed.isEmpty || !triggers.isEmpty || !unwanted.isEmpty else { return }
        let statements =
            changed.map { TriggerGenerator.definition(name: $0.name, body: $0.body) }
            + unwanted.map { "DROP TRIGGER IF EXISTS \($0) ON \(table(item))" } + triggers.map(\.sql)
        add("changelog triggers of \(item.table)", statements.joined(separator: ";\n"))
    }
}
