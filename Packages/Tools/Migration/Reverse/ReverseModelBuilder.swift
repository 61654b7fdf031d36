import PostgresClient
import TomboloModel
import TomboloSQL

/// Derives classes from tables.
struct ReverseModelBuilder {
    private let survey: DatabaseSurvey
    private(set) var classes: [ModelClass] = []
    private(set) var findings: [ReverseFinding] = []
    /// Swift literals by class and property.
    private(set) var defaults: [String: [String: String]] = [:]
    /// The class names of tables that become classes.
    private var classNames: [String: String] = [:]
    private var keyTypes: [String: PropertyType] = [:]

    init(_ survey: DatabaseSurvey) { self.survey = survey }

    mutating func build() {
        let usable = survey.tables.filter { isUsable($0) }
        var taken: Set<String> = []
        for table in usable {
            let name = ReverseName.className(table.name)
            classNames[table.name] = Self.free(name, &taken)
        }
        for table in usable { add(table) }
        findings.sort { ($0.table, $0.column ?? "") < ($1.table, $1.column ?? "") }
    }

    private static func free(_ name: String, _ taken: inout Set<String>) -> String {
        var result = name
        var number = 2
        while !taken.insert(result).inserted {
            result = "\(name)\(number)"
            number += 1
        }
        return result
    }

    private mutating func find(
        _ kind: ReverseFinding.Kind, _ table: SurveyedTable, _ column: String? = nil, _ message: String,
        fix: String? = nil
    ) {
        findings.append(ReverseFinding(kind: kind, table: table.name, column: column, message: message, fix: fix))
    }

    private func sqlName(_ table: SurveyedTable) -> String {
        PostgresSQL.quoteIdentifier(survey.schemaName, table.name)
    }

    private func quoted(_ name: String) -> String { PostgresSQL.quoteIdentifier(name) }

    // MARK: Tables

    /// Whether a table has a key that can identify objects. If not, adds a finding that says why.
    private mutating func isUsable(_ table: SurveyedTable) -> Bool {
        guard table.kind == .table else {
            find(.leftOut, table, nil, "It isn't a table: changes to its rows can't be followed.")
            return false
        }
        if let className = table.className {
            find(.leftOut, table, nil, "It's already synchronised, as \(className): its app exports the document.")
            return false
        }
        if let problem = ModelName.sqlProblem(of: table.name) {
            find(.leftOut, table, nil, problem.description)
            return false
        }
        guard !table.hasChildren else {
            find(
                .leftOut, table, nil,
                "Other tables inherit from it: their rows are also its rows, and changes to them couldn't be followed. "
                    + "Synchronise the tables that inherit, or make it a partitioned table.")
            return false
        }
        guard table.primaryKey.count == 1, let key = table.columns.first(where: { $0.name == table.primaryKey[0] })
        else {
            let addition = "ALTER TABLE \(sqlName(table)) "
            let column = "ADD COLUMN \(quoted(freeKeyName(table))) uuid PRIMARY KEY DEFAULT gen_random_uuid();"
            if table.primaryKey.isEmpty {
                find(
                    .leftOut, table, nil,
                    "It has no primary key to identify its objects. With one, it can be synchronised:",
                    fix: addition + column)
            } else {
                let columns = table.primaryKey.map(quoted).joined(separator: ", ")
                let isReferred = survey.tables.contains { other in
                    other.foreignKeys.contains {
                        $0.isInSameSchema && $0.table == table.name && $0.referencedColumns == table.primaryKey
                    }
                }
                let order =
                    isReferred ? " Foreign keys refer to the columns: drop them first, then add them again." : ""
                find(
                    .leftOut, table, nil,
                    "Its primary key has \(table.primaryKey.count) columns (\(table.primaryKey.joined(separator: ", "))); "
                        + "an object is identified by one. Add a key column and keep these columns unique.\(order)",
                    fix:
                        "\(addition)DROP CONSTRAINT \(quoted(table.primaryKeyName)), ADD UNIQUE (\(columns)), \(column)"
                )
            }
            return false
        }
        guard case .property(let type, _) = ReverseType(key),
            [.uuid, .string, .int(bits: 64), .objectId].contains(type),
            key.generation != .computed
        else {
            find(
                .leftOut, table, key.name,
                "The primary key is of type \(key.type); a key must be a uuid, text, bigint or 12 bytes (an ObjectId). "
                    + "Give the table a key of one of these types.")
            return false
        }
        keyTypes[table.name] = type
        return true
    }

    private func freeKeyName(_ table: SurveyedTable) -> String {
        let names = Set(table.columns.map(\.name))
        return ["_id", "id", "key"].first { !names.contains($0) } ?? "tombolo_id"
    }

    private static let trashColumns = [
        "trashed_at": "timestamptz", "trashed_by": "text", "trash_group": "uuid", "trash_reason": "text",
    ]
    /// Tables of earlier versions don't have this column.
    private static let laterTrashColumn = "trash_reason"

    private mutating func add(_ table: SurveyedTable) {
        guard let className = classNames[table.name] else { return }
        if survey.schemaName != "public" {
            find(
                .required, table, nil, "Only tables in the schema public are synchronised.",
                fix: "ALTER TABLE \(sqlName(table)) SET SCHEMA public;")
        }
        if table.forcesRowSecurity {
            find(
                .required, table, nil,
                "Its row-level security is also forced on its owner, so servers would see and write only what its "
                    + "policies allow. For other roles the policies stay in force:",
                fix: "ALTER TABLE \(sqlName(table)) NO FORCE ROW LEVEL SECURITY;")
        }
        let trash = Set(table.columns.filter { Self.trashColumns[$0.name] == $0.baseType }.map(\.name))
        let isTrashable = trash.union([Self.laterTrashColumn]).count == Self.trashColumns.count
        var properties: [ModelProperty] = []
        var names: [String: String] = [:]
        var taken: Set<String> = []
        let links = links(of: table)
        for column in table.columns where !isTrashable || Self.trashColumns[column.name] == nil {
            guard let property = property(column, of: table, links[column.name], &taken) else { continue }
            properties.append(property)
            names[column.name] = property.name
            if let text = ReverseDefault.literal(column, property) {
                defaults[className, default: [:]][property.name] = text
            }
        }
        var unique: [[String]] = []
        for group in table.uniqueGroups {
            let known = group.compactMap { names[$0] }
            if known.count == group.count, !unique.contains(known) { unique.append(known) }
        }
        noteForeignKeys(of: table, links)
        noteCollations(of: table, names)
        classes.append(
            ModelClass(
                name: className, table: table.name, properties: properties, uniqueProperties: unique,
                isTrashable: isTrashable))
    }

    // MARK: Columns

    /// The foreign keys that can become links, by column.
    private func links(of table: SurveyedTable) -> [String: SurveyedForeignKey] {
        var result: [String: SurveyedForeignKey] = [:]
        for key in table.foreignKeys where key.columns.count == 1 && key.isInSameSchema {
            guard let target = survey.tables.first(where: { $0.name == key.table }), keyTypes[target.name] != nil,
                target.primaryKey == key.referencedColumns, table.primaryKey != key.columns
            else { continue }
            result[key.columns[0]] = key
        }
        return result
    }

    private mutating func property(
        _ column: SurveyedColumn, of table: SurveyedTable, _ link: SurveyedForeignKey?, _ taken: inout Set<String>
    ) -> ModelProperty? {
        let isKey = table.primaryKey == [column.name]
        guard column.generation != .computed else {
            find(.leftOut, table, column.name, "It's computed from other columns and can't be written.")
            noteAbsence(of: column, table)
            return nil
        }
        if let problem = ModelName.sqlProblem(of: column.name) {
            find(.leftOut, table, column.name, problem.description)
            noteAbsence(of: column, table)
            return nil
        }
        guard case .property(let type, let conversion) = ReverseType(column) else {
            if case .none(let reason) = ReverseType(column) { find(.leftOut, table, column.name, reason) }
            noteAbsence(of: column, table)
            return nil
        }
        if ["xmin", "xmax", "cmin", "cmax", "ctid", "rowid", "tableoid"].contains(column.name.lowercased()) {
            find(
                .required, table, column.name, "'\(column.name)' is the name of a system column: rename it.",
                fix:
                    "ALTER TABLE \(sqlName(table)) RENAME COLUMN \(quoted(column.name)) TO \(quoted(column.name + "_"));"
            )
        }
        if let conversion { require(conversion, column, table) }
        if isKey {
            noteKey(column, table)
        } else if column.generation == .identityAlways {
            find(
                .required, table, column.name,
                "The column is GENERATED ALWAYS, but devices insert rows with a value for every column, so they "
                    + "couldn't insert any.",
                fix: "ALTER TABLE \(sqlName(table)) ALTER COLUMN \(quoted(column.name)) SET GENERATED BY DEFAULT;")
        }
        if let link, let target = classNames[link.table] {
            if column.isRequired {
                find(
                    .change, table, column.name,
                    "A link is optional because its object may be deleted: the column will be made nullable.")
            }
            var name = ReverseName.propertyName(column.name)
            for suffix in ["Id", "ID"] where name.hasSuffix(suffix) && name.count > suffix.count {
                name = String(name.dropLast(suffix.count))
            }
            if ReverseName.takenProperties.contains(name) { name += "Link" }
            // Links are always indexed.
            return ModelProperty(
                name: Self.free(name, &taken), column: column.name, type: .link(to: target), isOptional: true,
                deleteRule: link.action == .cascade ? .cascade : .nullify)
        }
        return ModelProperty(
            name: Self.free(ReverseName.propertyName(column.name), &taken), column: column.name, type: type,
            isOptional: !column.isRequired && !isKey, isPrimaryKey: isKey,
            isIndexed: table.indexedColumns.contains(column.name) && !isKey)
    }

    private mutating func require(
        _ conversion: ReverseType.Conversion, _ column: SurveyedColumn, _ table: SurveyedTable
    ) {
        let type = conversion.type.replacing(" COLLATE \"C\"", with: "")
        let note = conversion.rewritesTable ? "the table is rewritten" : "the table isn't rewritten"
        var message = "It's of type \(column.type) and must be \(type) (\(note))."
        if !column.labels.isEmpty {
            message += " The enumeration's values are \(column.labels.joined(separator: ", "))."
        }
        let using = conversion.expression.map { " USING \(quoted(column.name))\($0)" } ?? ""
        find(
            .required, table, column.name, message,
            fix: "ALTER TABLE \(sqlName(table)) ALTER COLUMN \(quoted(column.name)) TYPE \(conversion.type)\(using);")
    }

    private mutating func noteAbsence(of column: SurveyedColumn, _ table: SurveyedTable) {
        guard column.isRequired, column.defaultExpression == nil, column.generation == .none else { return }
        find(
            .change, table, column.name,
            "Devices insert rows without this column: it will be made nullable, unless you give it a default.")
    }

    private mutating func noteKey(_ column: SurveyedColumn, _ table: SurveyedTable) {
        switch column.generation {
        case .identityAlways:
            find(
                .required, table, column.name,
                "The key is GENERATED ALWAYS, so devices couldn't insert rows with keys of their own.",
                fix: "ALTER TABLE \(sqlName(table)) ALTER COLUMN \(quoted(column.name)) SET GENERATED BY DEFAULT;")
            noteCounter(column, table)
        case .sequence: noteCounter(column, table)
        case .none, .computed: break
        }
    }

    private mutating func noteCounter(_ column: SurveyedColumn, _ table: SurveyedTable) {
        find(
            .note, table, column.name,
            "The key counts up on the server. Devices can read, change and delete rows, but two that insert rows while "
                + "offline would choose the same number. Let only services insert here, let devices choose random "
                + "64-bit keys, or give the table a uuid key.")
    }

    /// Collations that sort text by its bytes.
    private static let byteCollations: Set<String> = ["C", "POSIX", "C.UTF-8", "C.utf8", "ucs_basic", "pg_c_utf8"]

    private mutating func noteCollations(of table: SurveyedTable, _ names: [String: String]) {
        let columns = table.columns.filter { column in
            guard names[column.name] != nil, case .property(.string, nil) = ReverseType(column) else { return false }
            return column.collation.map { !Self.byteCollations.contains($0) } ?? false
        }
        guard !columns.isEmpty else { return }
        let changes = columns.map { "ALTER COLUMN \(quoted($0.name)) TYPE text COLLATE \"C\"" }
        find(
            .note, table, columns.map(\.name).joined(separator: ", "),
            "PostgreSQL sorts by the collation \(columns[0].collation ?? ""), while rules, subscriptions and devices "
                + "compare text by its bytes. If they use < or >, make PostgreSQL do the same (only indexes are "
                + "rebuilt):",
            fix: "ALTER TABLE \(sqlName(table)) \(changes.joined(separator: ", "));")
    }

    private mutating func noteForeignKeys(of table: SurveyedTable, _ links: [String: SurveyedForeignKey]) {
        for key in table.foreignKeys {
            if key.columns.count > 1 {
                find(
                    .note, table, key.columns.joined(separator: ", "),
                    "A foreign key of \(key.columns.count) columns can't be a link: the columns become plain values."
                )
            } else if links[key.columns[0]] == nil {
                find(
                    .note, table, key.columns[0],
                    "It refers to a column of \(key.table) that isn't a key in these models: it's a plain value, "
                        + "not a link.")
            } else if key.action == .refuse {
                find(
                    .note, table, key.columns[0],
                    "PostgreSQL refuses to delete a row of \(key.table) that is referred to here, so a device's "
                        + "deletion is refused and undone too. ON DELETE SET NULL or CASCADE allows it.")
            }
        }
    }
}
