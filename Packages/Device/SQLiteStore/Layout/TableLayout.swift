package import TomboloModel
internal import TomboloSQL

/// The SQL of one class's table, and of the table of server values beneath it.
///
/// Tables have SQLite's rowids, so that objects come in the order of their insertion where nothing sorts them, and
/// large rows stay out of the key's index.
package final class TableLayout: Sendable {
    package let classIndex: Int
    package let schema: ClassSchema
    /// By column.
    package let storedTypes: [PropertyType]
    /// Columns whose stored type is data, for the values are encrypted: see ``StoreFile/decrypted(_:_:of:key:)``.
    package let encryptedColumns: [Int]
    /// The stored type of the primary key; int for a class without one, whose objects go by their rowid.
    package let keyType: PropertyType
    /// Positions of the element classes of the class's lists, those inside their elements among them.
    package let elementClasses: [Int]
    /// By list, the position of its element class.
    package let listClasses: [Int]

    /// Quoted names.
    package let table: String
    package let beneath: String
    package let key: String
    package let columnNames: [String]
    /// All columns, separated by commas.
    package let columnList: String

    /// One row by its key.
    package let selectByKey: String
    package let deleteByKey: String
    /// Keeps the present row, or its absence, beneath; no effect where something is kept already.
    package let capture: String
    /// Element classes only: the same for all elements of an owner, and their deletion.
    package let captureByOwner: String
    package let deleteByOwner: String
    /// Whether the class has an integer as primary key, which is the rowid then.
    package let isKeyRowID: Bool
    /// By rowid.
    package let deleteRow: String
    /// The same as ``capture`` by the rowid of a row that is there, and between two rowids for rows that were not there.
    package let captureRow: String
    package let captureAbsences: String
    /// A row with all columns; where the key is not the rowid, the last parameter is the rowid.
    package let insertRow: String
    /// Element classes only, for a statement that calls the table `e`: the elements of an owner, or of a parent element
    /// for a list inside others' elements, and their order.
    package let childCondition: String
    package let elementOrder: String
    /// Brings the kept rows back and empties the table beneath, in this order.
    package let restore: [String]

    /// Tells a kept row from a kept absence. No property can have this name.
    static let presence = "tombolo$present"
    /// The identity of objects without a primary key.
    static let rowid = "tombolo$id"
    /// Prefix of the tables beneath and of the store's own.
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
    }

    /// The quoted name of the table beneath another.
    static func beneath(_ table: String) -> String {
        SQLDialect.sqlite.quoted(reservedPrefix + "beneath_" + table)
    }

    /// `ON CONFLICT ("_id") DO UPDATE SET "price" = excluded."price"`.
    private static func conflictClause(key: String, columns: [String]) -> String {
        let updates = columns.filter { $0 != key }.map { "\($0) = excluded.\($0)" }
        return
            "ON CONFLICT (\(key)) DO \(updates.isEmpty ? "NOTHING" : "UPDATE SET \(updates.joined(separator: ", "))")"
    }

    /// Inserts a row with these columns, the key among them; an existing row gets `updating`.
    package func upsert(_ columns: [Int], updating: [Int]) -> String {
        insert(columns) + " " + Self.conflictClause(key: key, columns: updating.map { columnNames[$0] })
    }

    /// Inserts a row with these columns; for a class without a primary key the last parameter is the rowid.
    package func insert(_ columns: [Int]) -> String {
        var names = columns.map { columnNames[$0] }
        if schema.primaryKeyIndex == nil { names.append(key) }
        let places = Array(repeating: "?", count: names.count).joined(separator: ", ")
        return "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places))"
    }

    /// Changes columns of the row whose key is the last parameter.
    package func update(_ columns: [Int]) -> String {
        let updates = columns.map { "\(columnNames[$0]) = ?" }.joined(separator: ", ")
        return "UPDATE \(table) SET \(updates) WHERE \(key) = ?"
    }

    /// Changes columns of the row whose rowid is the last parameter.
    func updateRow(_ columns: [Int]) -> String {
        let updates = columns.map { "\(columnNames[$0]) = ?" }.joined(separator: ", ")
        return "UPDATE \(table) SET \(updates) WHERE rowid = ?"
    }

    /// Makes links to a key nil, or deletes the rows that have them, and returns the rowids.
    func clearLink(_ column: Int) -> String {
        "UPDATE \(table) SET \(columnNames[column]) = NULL WHERE \(columnNames[column]) = ? RETURNING rowid"
    }
    func deleteByLink(_ column: Int) -> String {
        "DELETE FROM \(table) WHERE \(columnNames[column]) = ? RETURNING rowid"
    }
}
