package import TomboloModel
internal import TomboloSQL

/// The SQL of one class's table, and of the table of server rows beneath it.
///
/// Tables have SQLite's rowids, so that unsorted objects come in insertion order and large rows stay out of the key's
/// index.
package final class TableLayout: Sendable {
    package let classIndex: Int
    package let schema: ClassSchema
    /// By column.
    package let storedTypes: [PropertyType]
    /// Columns that are stored as data because they're encrypted; see ``StoreFile/decrypted(_:_:of:key:)``.
    package let encryptedColumns: [Int]
    /// The stored type of the primary key. For a class without one it's an integer, because its objects are identified
    /// by rowid.
    package let keyType: PropertyType
    /// Positions of the element classes of the class's lists, including nested ones.
    package let elementClasses: [Int]
    /// For each list, the position of its element class.
    package let listClasses: [Int]

    /// Quoted names.
    package let table: String
    package let beneath: String
    package let key: String
    package let columnNames: [String]
    /// All columns, separated by commas.
    package let columnList: String

    /// Selects one row by key.
    package let selectByKey: String
    package let deleteByKey: String
    /// Keeps the current row, or its absence, beneath. Has no effect if something is already kept.
    package let capture: String
    /// For element classes: the same for all elements of an owner, and the deletion of those elements.
    package let captureByOwner: String
    package let deleteByOwner: String
    /// Whether the primary key is an integer and therefore the rowid.
    package let isKeyRowID: Bool
    /// By rowid.
    package let deleteRow: String
    /// Like ``capture``, but by the rowid of an existing row; and for a range of rowids whose rows didn't exist.
    package let captureRow: String
    package let captureAbsences: String
    /// Inserts a row with all columns. If the key isn't the rowid, the last parameter is the rowid.
    package let insertRow: String
    /// For element classes, in a statement that calls the table `e`: selects the elements of an owner (for a nested
    /// list, of a parent element), and orders them.
    package let childCondition: String
    package let elementOrder: String
    /// Statements that restore the kept rows and empty the table beneath, in this order.
    package let restore: [String]
    /// The same for the row with one key.
    let restoreByKey: [String]

    /// Tells whether a row beneath is a kept row or a kept absence. No property can have this name.
    static let presence = "tombolo$present"
    /// The column that identifies objects without a primary key.
    static let rowid = "tombolo$id"
    /// The prefix of the tables beneath and of the store's own tables.
    static let reservedPrefix = "tombolo_"

    package init(schema whole: Schema, classIndex: Int) {
        let item = whole[classIndex]
        let dialect = SQLDialect.sqlite
        self.classIndex = classIndex
        schema = item
        storedTypes = item.columns.map { $0.isEncrypted ? .data : whole.storedType(of: $0) }
        encryptedColumns = item.columns.indices.filter { item.columns[$0].isEncrypted }
        keyType = item.primaryKeyIndex.map { whole.storedType(of: item.columns[$0]) } ?? .int(bits: 64)
        elementClasses = whole.elementClassIndexes(of: classIndex)
        listClasses = item.lists.indices.compactMap { whole.elementClassIndex(of: classIndex, list: $0) }
        let table = dialect.quoted(item.table)
        let beneath = Self.beneath(item.table)
        let key = item.primaryKey.map { dialect.quoted($0.sqlName) } ?? "rowid"
        let names = item.columns.map { dialect.quoted($0.sqlName) }
        let list = names.joined(separator: ", ")
        let presence = dialect.quoted(Self.presence)
        self.table = table
        self.beneath = beneath
        self.key = key
        columnNames = names
        columnList = list
        selectByKey = "SELECT \(list.isEmpty ? "1" : list) FROM \(table) WHERE \(key) = ?"
        deleteByKey = "DELETE FROM \(table) WHERE \(key) = ?"

        let others = names.filter { $0 != key }
        let present = others.map { "c.\($0)" } + ["c.\(key) IS NOT NULL"]
        capture =
            "INSERT OR IGNORE INTO \(beneath) (\(([key] + others + [presence]).joined(separator: ", "))) "
            + "SELECT k.k, \(present.joined(separator: ", ")) "
            + "FROM (SELECT ? AS k) AS k LEFT JOIN \(table) AS c ON c.\(key) = k.k"
        if let index = item.primaryKeyIndex, case .int = storedTypes[index] {
            isKeyRowID = true
        } else {
            isKeyRowID = false
        }
        deleteRow = "DELETE FROM \(table) WHERE rowid = ?"
        captureRow =
            "INSERT OR IGNORE INTO \(beneath) (\((names + [presence]).joined(separator: ", "))) "
            + "SELECT \((names + ["1"]).joined(separator: ", ")) FROM \(table) WHERE rowid = ?"
        captureAbsences =
            "INSERT OR IGNORE INTO \(beneath) (\(key), \(presence)) "
            + "SELECT \(key), 0 FROM \(table) WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
        let all = isKeyRowID ? names : names + ["rowid"]
        insertRow =
            "INSERT INTO \(table) (\(all.joined(separator: ", "))) "
            + "VALUES (\(Array(repeating: "?", count: all.count).joined(separator: ", ")))"
        let owner = item.owner == nil ? "NULL" : names[ElementColumn.owner]
        if item.owner != nil {
            let parent = item.parentColumn ?? ElementColumn.owner
            childCondition = "e.\(names[parent]) = ?"
            elementOrder = "e.\(names[ElementColumn.rank]), e.\(names[ElementColumn.id])"
        } else {
            childCondition = "TRUE"
            elementOrder = "e.rowid"
        }
        captureByOwner =
            "INSERT OR IGNORE INTO \(beneath) (\(list), \(presence)) SELECT \(list), 1 FROM \(table) WHERE \(owner) = ?"
        deleteByOwner = "DELETE FROM \(table) WHERE \(owner) = ?"
        restore = [
            "DELETE FROM \(table) WHERE \(key) IN (SELECT \(key) FROM \(beneath) WHERE NOT \(presence))",
            "INSERT INTO \(table) (\(list)) SELECT \(list) FROM \(beneath) WHERE \(presence) "
                + Self.conflictClause(key: key, columns: names),
            "DELETE FROM \(beneath)",
        ]
        restoreByKey = [
            "DELETE FROM \(table) WHERE \(key) = ?1 "
                + "AND EXISTS (SELECT 1 FROM \(beneath) WHERE \(key) = ?1 AND NOT \(presence))",
            "INSERT INTO \(table) (\(list)) SELECT \(list) FROM \(beneath) WHERE \(key) = ?1 AND \(presence) "
                + Self.conflictClause(key: key, columns: names),
            "DELETE FROM \(beneath) WHERE \(key) = ?1",
        ]
    }

    /// The quoted name of the table beneath another.
    static func beneath(_ table: String) -> String {
        SQLDialect.sqlite.quoted(reservedPrefix + "beneath_" + table)
    }

    /// For example `ON CONFLICT ("_id") DO UPDATE SET "price" = excluded."price"`.
    private static func conflictClause(key: String, columns: [String]) -> String {
        let updates = columns.filter { $0 != key }.map { "\($0) = excluded.\($0)" }
        return
            "ON CONFLICT (\(key)) DO \(updates.isEmpty ? "NOTHING" : "UPDATE SET \(updates.joined(separator: ", "))")"
    }

    /// Inserts a row with these columns, including the key. If the row exists, sets its `updating` columns.
    package func upsert(_ columns: [Int], updating: [Int]) -> String {
        insert(columns) + " " + Self.conflictClause(key: key, columns: updating.map { columnNames[$0] })
    }

    /// Inserts a row with these columns. For a class without a primary key, the last parameter is the rowid.
    package func insert(_ columns: [Int]) -> String {
        var names = columns.map { columnNames[$0] }
        if schema.primaryKeyIndex == nil { names.append(key) }
        return insertion("INSERT", names, rowCount: 1)
    }

    /// Inserts rows with these columns, including the key. If a row can't be inserted, those before it stay. To be able
    /// to undo them, SQLite would have to keep a copy of every page that the statement changes.
    func insertOrFail(_ columns: [Int], rowCount: Int) -> String {
        insertion("INSERT OR FAIL", columns.map { columnNames[$0] }, rowCount: rowCount)
    }

    private func insertion(_ verb: String, _ names: [String], rowCount: Int) -> String {
        let row = "(\(Array(repeating: "?", count: names.count).joined(separator: ", ")))"
        let rows = Array(repeating: row, count: rowCount).joined(separator: ", ")
        return "\(verb) INTO \(table) (\(names.joined(separator: ", "))) VALUES \(rows)"
    }

    /// Updates columns of the row whose key is the last parameter.
    package func update(_ columns: [Int]) -> String {
        let updates = columns.map { "\(columnNames[$0]) = ?" }.joined(separator: ", ")
        return "UPDATE \(table) SET \(updates) WHERE \(key) = ?"
    }

    /// Updates columns of the row whose rowid is the last parameter.
    func updateRow(_ columns: [Int]) -> String {
        let updates = columns.map { "\(columnNames[$0]) = ?" }.joined(separator: ", ")
        return "UPDATE \(table) SET \(updates) WHERE rowid = ?"
    }

    /// Sets links to a key to nil, or deletes the rows with them, and returns the rowids.
    func clearLink(_ column: Int) -> String {
        "UPDATE \(table) SET \(columnNames[column]) = NULL WHERE \(columnNames[column]) = ? RETURNING rowid"
    }
    func deleteByLink(_ column: Int) -> String {
        "DELETE FROM \(table) WHERE \(columnNames[column]) = ? RETURNING rowid"
    }
}
