internal import TomboloModel
internal import TomboloSQLiteStore

/// The objects that link to a row by one property, in the order of their insertion. One that links several times, by a
/// list, is there as often.
final class LinkingRows: LinkingStorage {
    let row: ManagedRow
    private let origin: ManagedClass
    /// The class whose rows hold the links: the origin, or the element class of its list.
    private let holder: ManagedClass
    private let sql: String
    private var rowids: [Int64] = []
    private var stamps: (origin: UInt64, holder: UInt64) = (0, 0)

    private var core: RealmCore { row.core }

    init(row: ManagedRow, origin originName: String, property: String) {
        self.row = row
        let core = row.core
        guard let index = core.schema.index(of: originName) else {
            programError(
                "\(row.schema.name) has LinkingObjects of \(originName), which is not in the Realm: add it to "
                    + "objectTypes of its configuration.")
        }
        let origin = core.classes[index]
        self.origin = origin
        if let column = origin.schema.columnIndex(property), origin.linkTargets[column] == row.type.index {
            holder = origin
            sql =
                "SELECT rowid FROM \(origin.table.table) WHERE \(origin.table.columnNames[column]) = ? ORDER BY rowid"
        } else if let list = core.schema.index(of: "\(originName).\(property)"),
            core.classes[list].linkTargets[ElementColumn.target] == row.type.index
        {
            holder = core.classes[list]
            let names = holder.table.columnNames
            sql =
                "SELECT o.rowid FROM \(holder.table.table) AS e JOIN \(origin.table.table) AS o "
                + "ON o.\(origin.table.key) = e.\(names[ElementColumn.owner]) "
                + "WHERE e.\(names[ElementColumn.target]) = ? ORDER BY o.rowid, e.rowid"
        } else {
            programError(
                "\(row.schema.name) has LinkingObjects that come from '\(originName).\(property)', which is neither a "
                    + "link nor a list of links to \(row.schema.name).")
        }
    }

    private func load() {
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

    func object(at position: Int) -> Object {
        load()
        return core.row(origin, rowid: rowids[position]).managedObject()
    }
}
