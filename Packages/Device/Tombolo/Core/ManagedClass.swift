internal import TomboloModel
internal import TomboloSQLiteStore

/// What a Realm knows about one of its classes: where its properties are, how its rows are read, and which rows changed
/// recently.
final class ManagedClass {
    let index: Int
    let schema: ClassSchema
    let table: TableLayout
    /// Nil for an element class.
    let objectClass: ObjectClass?
    /// By column.
    let forms: [CellForm]
    /// For each column, the class that a link points to.
    let linkTargets: [Int?]

    let hasEncryptedColumns: Bool

    /// The places of the properties by column, if every property is a column and none is a link. Such objects are
    /// inserted directly.
    let scalars: [PropertyPlace]?
    /// By column.
    private let checks: [ColumnCheck]
    /// For each column, the key type of a link.
    private let linkKeyTypes: [PropertyType?]
    /// Columns of other classes whose rows are deleted with the object they link to.
    let cascades: [(classIndex: Int, column: Int)]
    /// The element classes of lists directly inside the elements.
    let innerLists: [Int]

    /// Incremented by every change of a row of the class. Anything read at another stamp may be stale.
    private(set) var stamp: UInt64 = 1
    /// Incremented when rows are inserted or deleted.
    private(set) var membership: UInt64 = 1
    /// The row changed at each of the latest stamps.
    private let changedRows: UnsafeMutablePointer<Int64>

    /// Used if the primary key is the rowid. Not in a synced file, where the server's response can recreate a row that
    /// is still the same object.
    var deletions = RowDeletions()
    let remembersDeletions: Bool

    private static let rememberedChanges: UInt64 = 256
    /// Stands for every row.
    private static let everything = Int64.min

    private let connection: SQLiteConnection
    private var byRowID: SQLiteStatement?
    private var byKey: SQLiteStatement?

    /// These select a row by rowid and by key: the rowid, then all columns.
    private let selectByRowID: String
    private let selectByKey: String

    init(index: Int, file: StoreFile, objectClass: ObjectClass?) {
        self.index = index
        schema = file.schema[index]
        table = file.layout.tables[index]
        self.objectClass = objectClass
        hasEncryptedColumns = !table.encryptedColumns.isEmpty
        forms = table.storedTypes.map { CellForm($0) }
        linkTargets = schema.columns.map { $0.linkTarget.flatMap { file.schema.index(of: $0) } }
        let table = table
        scalars = objectClass.flatMap { layout in
            let isScalar =
                table.encryptedColumns.isEmpty
                && layout.properties.allSatisfy { property in
                    guard case .column(let column) = property.slot else { return false }
                    return layout.schema.columns[column].linkTarget == nil
                }
            return isScalar ? layout.propertyOfColumn.map { layout.places[$0] } : nil
        }
        checks = schema.columns.map { ColumnCheck($0) }
        linkKeyTypes = schema.columns.map { $0.linkTarget == nil ? nil : file.schema.keyType(ofLink: $0) }
        cascades = file.layout.links[index].filter {
            file.schema[$0.classIndex].columns[$0.column].deleteRule == .cascade
        }
        let name = schema.name
        innerLists = table.elementClasses.filter { file.schema[$0].owner?.parent == name }
        remembersDeletions = table.isKeyRowID && !file.isSynced
        connection = file.connection
        let columns = (["rowid"] + table.columnNames).joined(separator: ", ")
        selectByRowID = "SELECT \(columns) FROM \(table.table) WHERE rowid = ?"
        selectByKey = "SELECT \(columns) FROM \(table.table) WHERE \(table.key) = ?"
        changedRows = .allocate(capacity: Int(Self.rememberedChanges))
        changedRows.initialize(repeating: Self.everything, count: Int(Self.rememberedChanges))
    }

    deinit { changedRows.deallocate() }

    var isListOfLinks: Bool { if case .link? = schema.owner?.element { true } else { false } }
    var isListOfEmbedded: Bool { if case .embedded? = schema.owner?.element { true } else { false } }

    /// - Throws: ``ValueError`` if the column can't hold the value.
    func validate(_ value: Value, _ column: Int) throws(ValueError) {
        if checks[column].passes(value) { return }
        try schema.columns[column].validate(value, linkKeyType: linkKeyTypes[column])
    }

    func isEncrypted(_ column: Int) -> Bool { hasEncryptedColumns && schema.columns[column].isEncrypted }

    // MARK: Changes

    func noteChange(of rowid: Int64) {
        stamp += 1
        changedRows[Int(stamp % Self.rememberedChanges)] = rowid
    }

    func noteMembership(of rowid: Int64) {
        noteChange(of: rowid)
        membership += 1
    }

    func noteDeletion(of rowid: Int64) {
        noteMembership(of: rowid)
        if remembersDeletions { deletions.note(rowid, stamp: stamp) }
    }

    /// Notes that any row may have changed or been deleted.
    func noteEverything() { noteMembership(of: Self.everything) }

    /// Whether a row is unchanged since an earlier stamp.
    func isUnchanged(_ rowid: Int64, since earlier: UInt64) -> Bool {
        guard stamp - earlier <= Self.rememberedChanges, earlier > 0 else { return false }
        var number = earlier
        while number < stamp {
            number += 1
            let changed = changedRows[Int(number % Self.rememberedChanges)]
            if changed == rowid || changed == Self.everything { return false }
        }
        return true
    }

    // MARK: Rows

    /// Reads a row into its own page. Nil if the row doesn't exist.
    /// - Parameter reusing: a page that nothing else uses.
    func page(rowid: Int64, reusing page: RowPage? = nil) throws -> RowPage? {
        let statement = try byRowID ?? connection.keptStatement(selectByRowID)
        byRowID = statement
        statement.bind(rowid, at: 1)
        return try read(statement, page)
    }

    func page(key: Value) throws -> RowPage? {
        let statement = try byKey ?? connection.keptStatement(selectByKey)
        byKey = statement
        statement.bind(key, at: 1)
        return try read(statement, nil)
    }

    private func read(_ statement: SQLiteStatement, _ reusable: RowPage?) throws -> RowPage? {
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let page = reusable ?? RowPage(columnCount: forms.count, capacity: 1)
        page.removeAll()
        page.append(statement.current, forms)
        page.stamp = stamp
        return page
    }
}
