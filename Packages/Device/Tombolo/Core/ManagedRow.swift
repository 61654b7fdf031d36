internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore

/// The accessor of a managed object: its row, and the row's fields as last read. Several accessors may refer to the
/// same row.
final class ManagedRow: ObjectAccessor {
    let core: RealmCore
    let type: ManagedClass
    private(set) var rowid: Int64
    /// The transaction that created the object here; 0 for an object that was found.
    private var createdIn: UInt64
    /// The value of ``RealmCore/invalidations`` when this was created.
    private var invalidations: UInt64
    /// The row's fields as of `stamp`. While a cursor's statement is positioned on the row, the fields are read from
    /// the statement, until the cursor calls ``settle()`` or ``letGo()``. Otherwise they're in `page`, at `cells`.
    private var standing: StatementRow?
    private var page: RowPage?
    private var cells: UnsafeMutablePointer<Cell>
    private var stamp: UInt64
    /// The class's stamp when this was attached to the row, for as long as nothing has been read.
    private var born: UInt64 = 0
    /// In a synced file, the key of an object created here. Used until something has been read.
    private let madeKey: Value?
    /// Whether nothing else uses the page.
    private var ownsPage: Bool
    /// The content read from the row's lists, by element class.
    private var lists: [Int: ListContent] = [:]
    /// Whether the object was deleted, or created in a cancelled transaction. Permanent.
    private(set) var isDead = false

    /// Creates the accessor of a row in a page that was just read.
    init(core: RealmCore, type: ManagedClass, page: RowPage, row: Int, isShared: Bool) {
        self.core = core
        self.type = type
        self.page = page
        rowid = page.rowids[row]
        cells = page.row(row)
        stamp = page.stamp
        ownsPage = !isShared
        createdIn = 0
        madeKey = nil
        invalidations = core.invalidations
    }

    /// Creates the accessor of the row that a cursor's statement is positioned on. The statement's columns are the
    /// rowid, then those of the class.
    init(core: RealmCore, type: ManagedClass, standing: StatementRow) {
        self.core = core
        self.type = type
        self.standing = standing
        rowid = standing.rowid
        cells = RealmCore.noCells
        stamp = type.stamp
        ownsPage = false
        createdIn = 0
        madeKey = nil
        invalidations = core.invalidations
    }

    /// Creates the accessor of a row that is read when needed.
    /// - Parameter madeKey: the key, for an object that is being created.
    init(core: RealmCore, type: ManagedClass, rowid: Int64, createdIn: UInt64 = 0, madeKey: Value? = nil) {
        self.core = core
        self.type = type
        self.rowid = rowid
        self.createdIn = createdIn
        self.madeKey = core.file.isSynced ? madeKey : nil
        cells = RealmCore.noCells
        stamp = 0
        born = type.stamp
        ownsPage = false
        invalidations = core.invalidations
    }

    /// Makes this the accessor of another row. Used in loops over results that don't keep the objects.
    func move(to page: RowPage, row: Int) {
        standing = nil
        if self.page !== page { self.page = page }
        rowid = page.rowids[row]
        cells = page.row(row)
        stamp = page.stamp
        ownsPage = false
        isDead = false
        born = 0
        createdIn = 0
        invalidations = core.invalidations
        if !lists.isEmpty { lists = [:] }
    }

    func move(to standing: StatementRow) {
        self.standing = standing
        if page != nil { page = nil }
        rowid = standing.rowid
        stamp = type.stamp
        ownsPage = false
        isDead = false
        born = 0
        createdIn = 0
        invalidations = core.invalidations
        if !lists.isEmpty { lists = [:] }
    }

    func move(to rowid: Int64) {
        standing = nil
        page = nil
        self.rowid = rowid
        cells = RealmCore.noCells
        stamp = 0
        born = type.stamp
        ownsPage = false
        isDead = false
        createdIn = 0
        invalidations = core.invalidations
        if !lists.isEmpty { lists = [:] }
    }

    /// Releases the page or statement that this was read from.
    func letGo() {
        standing = nil
        page = nil
        born = max(born, stamp)
        stamp = 0
    }

    /// Copies the fields, because the statement that holds them is about to move.
    func settle() {
        guard let standing else { return }
        let page = RowPage(columnCount: type.forms.count, capacity: 1)
        page.append(standing, type.forms)
        page.stamp = stamp
        adopt(page)
    }

    var classIndex: Int { type.index }
    var schema: ClassSchema { type.schema }

    var linkKey: Value? { key }

    /// The primary key, or the rowid for a class without one.
    var key: Value {
        guard let column = type.schema.primaryKeyIndex, !type.table.isKeyRowID else { return .int(rowid) }
        return value(at: column)
    }

    /// The key by which to find the row in another version of the file. Only set in a synced file, where the server's
    /// response to an edit can recreate the row. If nil, the rowid is permanent.
    var lastingKey: Value? { core.file.isSynced && isValid ? key : nil }

    /// The same row in another Realm of the file. Invalid if it doesn't exist there.
    func moved(to core: RealmCore) -> ManagedRow {
        if isValid, let found = RowPlace(self).find(in: core) { return found }
        let gone = ManagedRow(core: core, type: core.classes[classIndex], rowid: rowid)
        gone.kill()
        return gone
    }

    var reference: ObjectReference { ObjectReference(classIndex: classIndex, key: key) }

    /// The key of the root object. For an element, that's the owner's key.
    var rootKey: Value { schema.owner == nil ? key : value(at: ElementColumn.owner) }
    var elementID: Value? { schema.owner == nil ? nil : value(at: ElementColumn.id) }

    /// A new managed object with this accessor.
    func managedObject() -> Object {
        guard let layout = type.objectClass, let object = layout.type.init() as? Object else {
            programError("\(schema.name) has no objects.")
        }
        object.attach(self, layout)
        return object
    }

    /// The content of one of the row's lists.
    func list(_ elementType: ManagedClass) -> ListContent {
        core.locked {
            if let known = lists[elementType.index] { return known }
            let content = ListContent()
            lists[elementType.index] = content
            return content
        }
    }

    /// Marks the object as unusable.
    func kill() {
        settle()
        isDead = true
        stamp = 0
    }

    /// Sets the values of an object that isn't in the tables, because its transaction couldn't begin.
    func fill(_ values: [Value]) {
        let page = RowPage(values, rowid: rowid)
        adopt(page)
        stamp = type.stamp
    }

    private func adopt(_ page: RowPage) {
        standing = nil
        self.page = page
        cells = page.row(0)
        stamp = page.stamp
        ownsPage = true
    }

    // MARK: Staying up to date

    /// Updates the fields to the Realm's version. Stops the program if the object was deleted.
    @inline(__always)
    private func load() {
        core.confinement.check()
        if stamp != type.stamp { reload() }
    }

    private func reload() {
        if !refresh() {
            let key = type.table.isKeyRowID ? .int(rowid) : knownKey
            let name = "\(schema.name)\(key.map { " \($0)" } ?? "")"
            programError(
                "Object has been deleted or invalidated. It was \(name); check isInvalidated before reading it.")
        }
    }

    /// Whether the object was invalidated with the Realm, or created in a cancelled transaction.
    private var isLost: Bool {
        invalidations != core.invalidations || (createdIn != 0 && core.cancelledTransactions.contains(createdIn))
    }

    /// - Returns: whether the row exists.
    private func refresh() -> Bool {
        guard !isDead, !isLost else {
            isDead = true
            return false
        }
        if type.isUnchanged(rowid, since: stamp) {
            stamp = type.stamp
            return true
        }
        if type.deletions.contains(rowid, since: max(stamp, born)) {
            isDead = true
            return false
        }
        if let found = core.page(type, rowid: rowid, reusing: ownsPage && !core.file.isSynced ? page : nil),
            isSameKey(found)
        {
            adopt(found)
            return true
        }
        // In a synced file the server's response to an edit can recreate a row. Its key stays the same.
        if core.file.isSynced, let key = knownKey, let found = core.page(type, key: key) {
            rowid = found.rowids[0]
            adopt(found)
            return true
        }
        isDead = true
        return false
    }

    /// The key as last read, if the rowid isn't the key.
    private var knownKey: Value? {
        guard let column = type.schema.primaryKeyIndex, !type.table.isKeyRowID else { return nil }
        if let standing { return standing.value(at: column + 1, as: type.table.storedTypes[column]) }
        guard let page else { return madeKey }
        return page.value(cells[column], as: type.table.storedTypes[column])
    }

    /// Whether the found row has this row's key. In a synced file another object may have taken the rowid.
    private func isSameKey(_ found: RowPage) -> Bool {
        guard core.file.isSynced, found !== page, let key = knownKey, let column = type.schema.primaryKeyIndex else {
            return true
        }
        return found.value(found.cells[column], as: type.table.storedTypes[column]) == key
    }

    // MARK: ObjectAccessor

    var isValid: Bool {
        core.confinement.check()
        return stamp == type.stamp || refresh()
    }

    func value(at column: Int) -> Value {
        load()
        let value: Value
        if let standing {
            value = standing.value(at: column + 1, as: type.table.storedTypes[column])
        } else {
            guard let page else { return .null }
            value = page.value(cells[column], as: type.table.storedTypes[column])
        }
        return type.isEncrypted(column) ? core.opened(value, column, type, key: key) : value
    }

    func integer(at column: Int) -> Int64? {
        load()
        if let standing { return standing.integer(at: column + 1) }
        let cell = cells[column]
        return cell.kind == .null || page == nil ? nil : Int64(bitPattern: cell.bits)
    }

    func double(at column: Int) -> Double? {
        load()
        if let standing { return standing.double(at: column + 1) }
        let cell = cells[column]
        return cell.kind == .null || page == nil ? nil : Double(bitPattern: cell.bits)
    }

    func text(at column: Int) -> String? {
        load()
        if type.isEncrypted(column) {
            return if case .string(let text) = value(at: column) { text } else { nil }
        }
        if let standing { return standing.text(at: column + 1) }
        let cell = cells[column]
        return cell.kind == .null ? nil : page?.text(cell)
    }

    func setValue(_ value: Value, at column: Int) {
        core.requireWrite()
        load()
        if column == type.schema.primaryKeyIndex {
            if value != self.value(at: column) {
                core.fail(.invalidInput, "Primary key '\(schema.name).\(schema.columns[column].name)' cannot change.")
            }
            return
        }
        guard core.validate(value, column: column, of: classIndex) else { return }
        write(FieldWrite(column: column, value: value))
    }

    /// Sets several valid fields at once.
    func set(_ fields: [FieldWrite]) {
        load()
        for field in fields { write(field) }
    }

    private func write(_ field: FieldWrite) {
        settle()
        let field = core.sealed(field, type, key: key)
        core.set(field, type, rowid: rowid, key: key)
        keep(field)
    }

    /// Updates the fields after the Realm's own write.
    private func keep(_ field: FieldWrite) {
        guard let page else { return }
        // If the page is shared, others use it only for other rows.
        cells[field.column] = page.cell(field.value)
        stamp = type.stamp
    }

    /// Adds to an integer in a way that also counts concurrent additions.
    func add(_ amount: Int64, at column: Int) {
        core.requireWrite()
        load()
        settle()
        let current: Int64 = if case .int(let number) = value(at: column) { number } else { 0 }
        let sum = current.addingReportingOverflow(amount)
        guard !sum.overflow else {
            core.fail(
                .invalidInput,
                "'\(schema.name).\(schema.columns[column].name)' would exceed 64 bits: \(current) + \(amount).")
            return
        }
        let value = Value.int(sum.partialValue)
        guard core.validate(value, column: column, of: classIndex) else { return }
        core.add(amount, giving: value, column, of: self)
        keep(FieldWrite(column: column, value: value))
    }

    func linkedObject(at column: Int) -> Object? {
        let key = value(at: column)
        guard !key.isNull, let target = type.linkTargets[column] else { return nil }
        return core.find(ObjectReference(classIndex: target, key: key))?.managedObject()
    }

    func setLinkedObject(_ object: Object?, at column: Int) {
        core.requireWrite()
        guard let object else { return setValue(.null, at: column) }
        guard let target = type.linkTargets[column], let row = core.managed(object, target) else { return }
        setValue(row.key, at: column)
    }

    private var place: EmbeddedPlace {
        EmbeddedPlace(host: self, layout: core.objectClass(classIndex), base: 0, prefix: "")
    }

    func embeddedObject(at column: Int) -> EmbeddedObject? { place.object(at: column) }
    func setEmbeddedObject(_ object: EmbeddedObject?, at column: Int) { place.set(object, at: column) }
    func listStorage(ofProperty property: Int) -> any ListStorage { place.list(ofProperty: property) }

    func linkingStorage(ofProperty property: Int) -> any LinkingStorage {
        core.confinement.check()
        guard case .linkingObjects(let origin, let name) = core.objectClass(classIndex).properties[property].slot else {
            programError("\(schema.name) has no LinkingObjects there.")
        }
        return LinkingRows(row: self, linkOrigin: LinkOrigin(className: origin, property: name))
    }

    func isSameObject(as other: any ObjectAccessor) -> Bool {
        guard let other = other as? ManagedRow else { return false }
        if self === other { return true }
        guard core === other.core, type === other.type else { return false }
        return core.file.isSynced ? identity == other.identity : rowid == other.rowid
    }

    func hashIdentity(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type))
        if core.file.isSynced { hasher.combine(identity) } else { hasher.combine(rowid) }
    }

    /// Identifies the object in all versions of the file.
    private var identity: Value { knownKey ?? .int(rowid) }
}
