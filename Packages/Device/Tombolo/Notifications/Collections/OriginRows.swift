internal import TomboloModel
internal import TomboloSQLiteStore

/// The objects that link to a row through one property. The rows are those that contain the links, so an object that
/// links twice appears twice.
struct OriginRows: ObservedRows {
    private let core: RealmCore
    private let identity: OriginIdentity
    private let origin: LinkOriginRows
    /// The rows are `e`, and their objects are `o`. The two only differ for lists.
    private let selection: String
    private let row: String
    /// The condition on the row that the objects link to, and its parameter.
    private let host: (sql: String, parameter: Value)

    /// From this fraction of the collection upwards, querying single rows takes longer than reading the whole
    /// collection.
    private static let largestPart = 4
    private static let smallestLimit = 1_024

    init(_ core: RealmCore, _ identity: OriginIdentity, _ origin: LinkOriginRows) {
        self.core = core
        self.identity = identity
        self.origin = origin
        let (holder, source) = (origin.holder, origin.source)
        let target = core.layout.tables[identity.hostClass]
        host = target.condition(onRow: identity.host, identity.key)
        row = origin.isList ? "e.rowid" : "o.rowid"
        let column = "\(origin.isList ? "e" : "o").\(holder.columnNames[origin.column])"
        let from =
            origin.isList
            ? "\(holder.table) AS e JOIN \(source.table) AS o "
                + "ON o.\(source.key) = e.\(holder.columnNames[ElementColumn.owner])"
            : "\(source.table) AS o"
        selection = "\(from) WHERE \(column) = (SELECT h.\(target.key) FROM \(target.table) AS h WHERE \(host.sql))"
    }

    func all() -> [Int64]? {
        let table = core.layout.tables[identity.hostClass].table
        return core.query {
            guard try !core.rowIDs("SELECT h.rowid FROM \(table) AS h WHERE \(host.sql)", [host.parameter]).isEmpty
            else { return nil }
            return try core.rowIDs("SELECT \(row) FROM \(selection) ORDER BY o.rowid, \(row)", [host.parameter])
        }
    }

    func isGone(after changes: ChangeSet) -> Bool {
        identity.key == nil && changes[identity.hostClass].deleted.contains(identity.host)
    }

    func touched(by changes: ChangeSet) -> RowIDSet? {
        let (holders, hosts) = (changes[origin.holder.classIndex], changes[identity.hostClass])
        // If there is a key, the host may have had another rowid before.
        let mayBeGone = identity.key == nil ? hosts.deleted.contains(identity.host) : !hosts.deleted.isEmpty
        if holders.isEverything || hosts.isEverything || mayBeGone { return nil }
        if core.file.isSynced, origin.isList {
            // An object that the server recreated has a different position in the order.
            let sources = changes[origin.source.classIndex]
            if sources.isEverything || !sources.inserted.isEmpty || !sources.deleted.isEmpty { return nil }
        }
        let written = holders.modified.rowIDs { $0.contains(origin.column) }
        return holders.inserted.union(holders.deleted).union(written)
    }

    func isLarge(_ touched: Int, of count: Int) -> Bool {
        touched > max(Self.smallestLimit, count / Self.largestPart)
    }

    func replaced(by changes: ChangeSet) -> RowIDSet {
        let holders = changes[origin.holder.classIndex]
        return holders.inserted.intersection(holders.deleted)
    }

    func matching(_ rows: RowIDSet) -> [Int64] { rows.isEmpty ? [] : select(rows, "\(row)") }

    /// The collection's rows whose `rowid` column has one of the given values.
    private func select(_ rows: RowIDSet, _ rowid: String) -> [Int64] {
        let sql =
            "SELECT \(row) FROM \(selection) AND \(rowid) IN (SELECT value FROM json_each(?)) ORDER BY o.rowid, \(row)"
        return core.query { try core.rowIDs(sql, [host.parameter, .string(rows.json)]) }
    }

    func order() -> RowOrder {
        guard origin.isList else { return RowOrder { $0 < $1 } }
        let (holder, source) = (origin.holder, origin.source)
        let keys = SortKeys(
            core,
            "SELECT o.rowid FROM \(holder.table) AS e JOIN \(source.table) AS o "
                + "ON o.\(source.key) = e.\(holder.columnNames[ElementColumn.owner]) WHERE e.rowid = ?",
            isAscending: [true])
        return RowOrder { keys.precedes($0, $1) }
    }

    func modified(by changes: ChangeSet, _ scope: ChangeScope) -> RowFilter? {
        guard let sources = scope.rows(of: origin.source.classIndex, changedBy: changes, core) else { return nil }
        if !origin.isList || sources.isEmpty { return RowFilter(sources) }
        return RowFilter(RowIDSet(select(sources, "o.rowid")))
    }
}

/// The LinkingObjects of a row through a property of a class.
struct OriginIdentity: Hashable, Sendable {
    let hostClass: Int
    let host: Int64
    /// The host's key, if the key rather than the rowid is permanent; see ``ManagedRow/lastingKey``.
    let key: Value?
    let origin: LinkOrigin
}
