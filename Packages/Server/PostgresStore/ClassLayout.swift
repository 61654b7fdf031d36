internal import PostgresClient
internal import PostgresValues
internal import TomboloModel
internal import TomboloSQL

/// One class as the store reads and writes it. A Swift class, because it's passed around for every row.
final class ClassLayout: Sendable {
    let classIndex: Int
    let item: ClassSchema
    /// The class's number in the changelog.
    let id: Int16
    let keyIndex: Int
    let storedTypes: [PropertyType]
    /// Whether the keys are ObjectIds.
    let hasObjectIds: Bool
    /// The columns' numbers in the changelog, by position.
    let columnIDs: [Int16]
    let position: [Int16: Int]
    /// `public."listing"`
    let table: String
    /// Quoted column names, by position.
    let names: [String]

    /// - Returns: nil if the class has no primary key, or if the database doesn't have it.
    convenience init?(_ item: ClassSchema, classIndex: Int, schema: Schema, identifiers: SchemaIdentifiers) {
        guard let id = identifiers.classes[item.name] else { return nil }
        let numbers = identifiers.columns[item.name] ?? [:]
        let columnIDs = item.columns.compactMap { numbers[$0.name] }
        self.init(item, classIndex: classIndex, schema: schema, id: id, columnIDs: columnIDs)
    }

    init?(_ item: ClassSchema, classIndex: Int, schema: Schema, id: Int16, columnIDs: [Int16]) {
        guard let keyIndex = item.primaryKeyIndex, columnIDs.count == item.columns.count else { return nil }
        self.classIndex = classIndex
        self.item = item
        self.id = id
        self.keyIndex = keyIndex
        self.columnIDs = columnIDs
        storedTypes = item.columns.map { schema.storedType(of: $0) }
        hasObjectIds = storedTypes[keyIndex] == .objectId
        position = Dictionary(columnIDs.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        table = "public.\(PostgresSQL.quoteIdentifier(item.table))"
        names = item.columns.map { PostgresSQL.quoteIdentifier($0.sqlName) }
    }

    var key: String { names[keyIndex] }
    var keyType: PropertyType { storedTypes[keyIndex] }
    var isElement: Bool { item.owner != nil }

    /// All columns, followed by whether the row is in the trash.
    func selectList(_ alias: String) -> String {
        let columns = names.map { "\(alias).\($0)" }
        return (columns + [item.isTrashable ? "\(alias).trashed_at IS NOT NULL" : "false"]).joined(separator: ", ")
    }

    /// The number of columns in ``selectList(_:)``.
    var selectCount: Int { names.count + 1 }

    /// A condition that excludes the trash, with a leading AND. Empty for a class without a trash.
    func andLive(_ alias: String) -> String { item.isTrashable ? " AND \(alias).trashed_at IS NULL" : "" }

    /// The row that ``selectList(_:)`` selected.
    func row(_ result: PostgresResult, _ index: Int) throws -> (row: Row, isTrashed: Bool) {
        var values: [Value] = []
        values.reserveCapacity(storedTypes.count)
        for (column, type) in storedTypes.enumerated() {
            values.append(try result[index, column].value(of: type))
        }
        return (Row(values), try result[index, storedTypes.count].bool)
    }

    /// The row that an erase logged. Columns added later get their type's zero.
    func erasedRow(_ ids: [Int64?], _ texts: [String?]) throws -> (row: Row, isTrashed: Bool) {
        var row = Row(zip(item.columns, storedTypes).map { $0.isOptional ? .null : $1.zero })
        var isTrashed = false
        try restore(ids, texts, &row, &isTrashed)
        return (row, isTrashed)
    }

    /// Puts logged old values back into a row.
    func restore(_ ids: [Int64?], _ texts: [String?], _ row: inout Row, _ isTrashed: inout Bool) throws {
        guard ids.count == texts.count else {
            throw PostgresStoreError(
                .corrupt, "A changelog row of \(item.name) has \(texts.count) old values for \(ids.count) columns.")
        }
        for (id, text) in zip(ids, texts) {
            guard let id else { continue }
            if id == Int64(SchemaIdentifiers.trashColumn) {
                isTrashed = text == "true"
            } else if let position = position[Int16(truncatingIfNeeded: id)] {
                guard let value = KeyText.value(text, storedTypes[position]) else {
                    throw PostgresStoreError(
                        .corrupt,
                        "The changelog has an old value of \(item.name).\(item.columns[position].name) that isn't a "
                            + "valid \(storedTypes[position].name).")
                }
                row[position] = value
            }
        }
    }
}
