internal import TomboloModel
internal import TomboloSQLiteStore

/// The elements of one list: rows of its element class.
struct ListRows: ObservedRows {
    private let core: RealmCore
    private let list: ListIdentity
    /// Nil for lists of values or embedded objects.
    private let targetClass: Int?
    private let selection: String
    /// The condition on the row that owns the list, and its parameter.
    private let host: (sql: String, parameter: Value)

    init(_ core: RealmCore, _ list: ListIdentity) {
        self.core = core
        self.list = list
        let owner = core.layout.tables[list.hostClass]
        host = owner.condition(onRow: list.host, list.key)
        let type = core.classes[list.elementClass]
        targetClass = type.isListOfLinks ? type.linkTargets[ElementColumn.target] : nil
        // Hides elements whose object isn't on the device.
        let target = targetClass.map { core.layout.tables[$0] }.map { target in
            " JOIN \(target.table) AS t ON t.\(target.key) = e.\(type.table.columnNames[ElementColumn.target])"
        }
        let key = "(SELECT h.\(owner.key) FROM \(owner.table) AS h WHERE \(host.sql))"
        selection =
            "\(type.table.table) AS e\(target ?? "") WHERE "
            + type.table.childCondition.replacing("?", with: key, maxReplacements: 1)
    }

    private var elementTable: TableLayout { core.layout.tables[list.elementClass] }
    private var orderKeys: String { elementTable.elementOrder }

    func all() -> [Int64]? {
        let table = core.layout.tables[list.hostClass].table
        return core.query {
            guard try !core.rowIDs("SELECT h.rowid FROM \(table) AS h WHERE \(host.sql)", [host.parameter]).isEmpty
            else { return nil }
            return try core.rowIDs("SELECT e.rowid FROM \(selection) ORDER BY \(orderKeys)", [host.parameter])
        }
    }

    func isGone(after changes: ChangeSet) -> Bool {
        list.key == nil && changes[list.hostClass].deleted.contains(list.host)
    }

    func touched(by changes: ChangeSet) -> RowIDSet? {
        let elements = changes[list.elementClass]
        let hosts = changes[list.hostClass]
        // If the list has a key, its host may have had another rowid before.
        let mayBeGone = list.key == nil ? hosts.deleted.contains(list.host) : !hosts.deleted.isEmpty
        if elements.isEverything || hosts.isEverything || mayBeGone { return nil }
        if core.file.isSynced, let targetClass {
            // Elements are hidden or shown together with their objects.
            let targets = changes[targetClass]
            if targets.isEverything || !targets.deleted.isEmpty || !targets.inserted.isEmpty { return nil }
        }
        return elements.inserted.union(elements.deleted).union(elements.modified.rowIDs)
    }

    /// Lists are short, and the touched rows include elements of other lists.
    func isLarge(_ touched: Int, of count: Int) -> Bool { touched > count / 4 }

    func replaced(by changes: ChangeSet) -> RowIDSet {
        let elements = changes[list.elementClass]
        return elements.inserted.intersection(elements.deleted)
    }

    func matching(_ rows: RowIDSet) -> [Int64] {
        if rows.isEmpty { return [] }
        return core.query {
            try core.rowIDs(
                "SELECT e.rowid FROM \(selection) AND e.rowid IN (SELECT value FROM json_each(?)) ORDER BY \(orderKeys)",
                [host.parameter, .string(rows.json)])
        }
    }

    func order() -> RowOrder {
        let table = elementTable.table
        let keys = SortKeys(
            core, "SELECT \(orderKeys) FROM \(table) AS e WHERE e.rowid = ?", isAscending: [true, true])
        return RowOrder { keys.precedes($0, $1) }
    }

    /// The elements whose object or value was replaced, and those whose object has changed.
    func modified(by changes: ChangeSet, _ scope: ChangeScope) -> RowFilter? {
        let elements = changes[list.elementClass]
        if elements.isEverything { return nil }
        if targetClass == nil, core.classes[list.elementClass].isListOfEmbedded {
            return scope.rows(of: list.elementClass, changedBy: changes, core).map { RowFilter($0) }
        }
        // If only the rank changed, the element merely moved.
        var rows = elements.modified.rowIDs { $0 != [ElementColumn.rank] }
        guard let targetClass else { return RowFilter(rows) }
        guard let targets = scope.rows(of: targetClass, changedBy: changes, core) else { return nil }
        if !targets.isEmpty {
            let sql = "SELECT e.rowid FROM \(selection) AND t.rowid IN (SELECT value FROM json_each(?))"
            rows.formUnion(
                core.query { RowIDSet(try core.rowIDs(sql, [host.parameter, .string(targets.json)])) })
        }
        return RowFilter(rows)
    }
}

/// A list, identified by the row that owns it. That row is an object, or an element whose embedded object has the list.
struct ListIdentity: Hashable, Sendable {
    let hostClass: Int
    let host: Int64
    /// The host's key, if the key rather than the rowid is permanent; see ``ManagedRow/lastingKey``.
    let key: Value?
    let elementClass: Int
}
