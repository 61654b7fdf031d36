internal import PostgresClient
internal import TomboloChangesets
internal import TomboloModel

/// Translates our constraints into the model's terms.
struct ConstraintNames: Sendable {
    private struct Meaning {
        let className: String
        let properties: [String]
    }

    private var unique: [String: Meaning] = [:]
    private var foreignKeys: [String: Meaning] = [:]
    /// The names of the row size constraints.
    private var rowSizes: Set<String> = []
    private let classByTable: [String: ClassSchema]

    init(schema: Schema) {
        classByTable = Dictionary(schema.classes.map { ($0.table, $0) }, uniquingKeysWith: { first, _ in first })
        for item in schema.classes {
            rowSizes.insert(SchemaName.rowSize(item.table))
            for columns in item.uniqueColumns {
                let names = columns.map { item.columns[$0].sqlName }
                unique[SchemaName.unique(item.table, names)] = Meaning(
                    className: item.name, properties: columns.map { item.columns[$0].name })
            }
            for column in item.columns where column.linkTarget != nil {
                foreignKeys[SchemaName.foreignKey(item.table, column.sqlName)] = Meaning(
                    className: item.name, properties: [column.name])
            }
        }
    }

    /// The refusal for an error whose ``PostgresError/isRefusal`` is true. It either names columns and constraints,
    /// but never values, or repeats the message of the trigger that raised it.
    func refusal(_ error: PostgresError, className: String?, key: Value?) -> Refusal {
        let table = error.tableName.flatMap { classByTable[$0] }
        let subject = className ?? table?.name ?? "a row"
        func result(_ message: String) -> Refusal {
            Refusal(.constraint, message, className: className ?? table?.name, key: key)
        }
        if error.code == .programLimitExceeded {
            let item = className.flatMap { name in classByTable.values.first { $0.name == name } } ?? table
            let indexed = item.map(Self.indexed) ?? []
            let list = indexed.isEmpty ? "" : " Indexed properties: \(indexed.joined(separator: ", "))."
            return result(
                "A value of \(subject) is too long for a database index, which takes about 2,700 bytes.\(list) "
                    + "Shorten the value, or remove the index.")
        }
        if let name = error.constraintName {
            if rowSizes.contains(name) {
                return result(
                    "The text and data of one \(subject) may have at most \(Row.maximumContentByteCount >> 20) MiB "
                        + "in total. Make them smaller, or move some into objects of their own.")
            }
            if name == TrashLimits.constraint {
                return result(
                    "More than \(TrashLimits.takenAlong) objects would go into the trash with this \(subject). "
                        + "Delete what links to it first, in parts.")
            }
            if let meaning = unique[name] {
                return result(
                    "Another \(meaning.className) has the same \(meaning.properties.joined(separator: " and ")).")
            }
            if let meaning = foreignKeys[name] {
                let properties = meaning.properties.joined(separator: ", ")
                return result("\(meaning.className).\(properties) links to an object that was deleted.")
            }
            if error.isTakenKey, let table {
                return result("Another \(table.name) already has this primary key.")
            }
            return result(error.raisedSentence ?? "\(subject) breaks the database's rule '\(name)'.")
        }
        if error.code == .notNullViolation, let column = error.columnName {
            return result("\(subject).\(property(column, table)) can't be nil.")
        }
        return result("The database rejected a value of \(subject) (SQLSTATE \(error.code)).")
    }

    /// Properties with values of any length that are in one of our indexes.
    private static func indexed(_ item: ClassSchema) -> [String] {
        let unique = Set(item.uniqueColumns.joined())
        return item.columns.enumerated().filter { index, column in
            let hasAnyLength = column.type == .string || column.type == .data || column.linkTarget != nil
            return hasAnyLength && (column.isPrimaryKey || column.isIndexed || unique.contains(index))
        }.map(\.element.name)
    }

    private func property(_ column: String, _ item: ClassSchema?) -> String {
        item?.columns.first { $0.sqlName == column }?.name ?? column
    }
}
