internal import TomboloModel
internal import TomboloSQLiteStore

/// The objects that link to a row through one property, in insertion order. An object that links several times, through
/// a list, appears that many times.
final class LinkingRows: LinkingStorage {
    let row: ManagedRow
    private let linkOrigin: LinkOrigin
    private let origin: ManagedClass
    /// The class whose rows contain the links: the origin, or its list's element class.
    private let holder: ManagedClass
    private let sql: String
    private var rowids: [Int64] = []
    private var stamps: (origin: UInt64, holder: UInt64) = (0, 0)

    private var core: RealmCore { row.core }

    init(row: ManagedRow, linkOrigin: LinkOrigin) {
        self.row = row
        self.linkOrigin = linkOrigin
        let core = row.core
        guard core.schema.index(of: linkOrigin.className) != nil else {
            programError(
                "\(row.schema.name) has LinkingObjects from \(linkOrigin.className), which is not in the Realm: add it "
                    + "to objectTypes of its configuration.")
        }
        guard let rows = LinkOriginRows(linkOrigin, to: row.type.index, core.layout) else {
            programError(
                "\(row.schema.name) has LinkingObjects that come from "
                    + "'\(linkOrigin.className).\(linkOrigin.property)', which is neither a link nor a list of links to "
                    + "\(row.schema.name).")
        }
        origin = core.classes[rows.source.classIndex]
        holder = core.classes[rows.holder.classIndex]
        let (source, names) = (rows.source, rows.holder.columnNames)
        sql =
            rows.isList
            ? "SELECT o.rowid FROM \(rows.holder.table) AS e JOIN \(source.table) AS o "
                + "ON o.\(source.key) = e.\(names[ElementColumn.owner]) "
                + "WHERE e.\(names[rows.column]) = ? ORDER BY o.rowid, e.rowid"
            : "SELECT rowid FROM \(source.table) WHERE \(names[rows.column]) = ? ORDER BY rowid"
    }

    /// Identifies the collection for observers, in every Realm of the file.
    var identity: OriginIdentity {
        OriginIdentity(hostClass: row.classIndex, host: row.rowid, key: row.lastingKey, origin: linkOrigin)
    }

    /// The collection's place in any Realm of the file.
    var place: ConfinedPlace.Content { .linkingObjects(RowPlace(row), linkOrigin) }

    func isSameOrigin(as other: any LinkingStorage) -> Bool {
        guard let other = other as? LinkingRows else { return false }
        return row.isSameObject(as: other.row) && linkOrigin == other.linkOrigin
    }

    func moved(to core: RealmCore) -> LinkingRows {
        LinkingRows(row: row.moved(to: core), linkOrigin: linkOrigin)
    }

    /// A query for the objects.
    var query: ObjectQuery {
        var query = ObjectQuery(classIndex: origin.index)
        if holder === origin {
            query.predicate = .compare(.property(PropertyPath(linkOrigin.property)), .equal, .literal(row.key), [])
        } else {
            query.source = ObjectQuery.ListSource(
                elementClass: holder.index, parent: row.key, parentType: row.type.table.keyType, isBackwards: true)
        }
        return query
    }

    /// A frozen object's linking objects are read once for all threads.
    private func load() { core.locked { loadIfNeeded() } }

    private func loadIfNeeded() {
        guard row.isValid else {
            programError("Object has been deleted or invalidated. Its LinkingObjects cannot be read.")
        }
        guard stamps != (origin.stamp, holder.stamp) else { return }
        rowids = core.query {
            let statement = try core.connection.statement(sql)
            defer { statement.reset() }
            statement.bind(row.key, at: 1)
            var found: [Int64] = []
            while try statement.step() { found.append(statement.integer(at: 0)) }
            return found
        }
        stamps = (origin.stamp, holder.stamp)
    }

    var count: Int {
        load()
        return rowids.count
    }

    func snapshot() -> AnyIterator<Object> {
        load()
        let (core, origin) = (core, origin)
        var rest = rowids[...]
        return AnyIterator {
            while let rowid = rest.popFirst() {
                let row = core.row(origin, rowid: rowid)
                if row.isValid { return row.managedObject() }
            }
            return nil
        }
    }

    func object(at position: Int) -> Object {
        load()
        return core.row(origin, rowid: rowids[position]).managedObject()
    }
}
