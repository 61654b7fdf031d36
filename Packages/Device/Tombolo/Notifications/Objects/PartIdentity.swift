internal import TomboloModel
internal import TomboloSQLiteStore

/// The part of a row that has an object's properties: the whole row for an object with a table, some of the columns for
/// an embedded object.
struct PartIdentity: Sendable {
    let hostClass: Int
    private(set) var host: Int64
    /// The host's key, if the key rather than the rowid is permanent; see ``ManagedRow/lastingKey``.
    let key: Value?
    let layout: ObjectClass
    /// The host's column with the first property.
    let base: Int
    /// The prefix that the object's list names have in the host: `address.`.
    let prefix: String
    /// The host's column that stores whether an embedded object exists. Nil if the object always exists.
    let presence: Int?
}

extension PartIdentity {
    /// An object with a table.
    init(_ row: ManagedRow) {
        self.init(
            hostClass: row.classIndex, host: row.rowid, key: row.lastingKey,
            layout: row.core.objectClass(row.classIndex), base: 0, prefix: "", presence: nil)
    }

    /// Finds the host again, since its rowid may have changed.
    mutating func locate(_ core: RealmCore) {
        if let key, let row = core.find(core.classes[hostClass], key: key) { host = row.rowid }
    }

    /// Finds the host again after changes that may have given it another rowid.
    /// - Returns: the changes, or nil if they don't show what changed in the host.
    mutating func follow(_ changes: ChangeSet?, _ core: RealmCore) -> ChangeSet? {
        if key == nil { return changes }
        if let own = changes?[hostClass], !own.isEverything, !own.deleted.contains(host) { return changes }
        locate(core)
        return nil
    }

    var isEmbedded: Bool { base > 0 }

    func object(_ core: RealmCore) -> ObjectBase? {
        let type = core.classes[hostClass]
        guard let row = key.map({ core.find(type, key: $0) }) ?? core.row(type, rowid: host) else { return nil }
        if !isEmbedded { return row.managedObject() }
        return EmbeddedPlace(host: row, layout: layout, base: base, prefix: prefix).managedObject()
    }

    /// Converts the object's key path to one that starts at the host.
    func hostNames(_ names: [String]) -> [String] {
        prefix.split(separator: ".").map(String.init) + names
    }

    /// All columns of the host, or nil if the object doesn't exist.
    func read(_ core: RealmCore) -> [Value]? {
        let table = core.layout.tables[hostClass]
        let columns = table.columnList.isEmpty ? "1" : table.columnList
        let (condition, parameter) = table.condition(onRow: host, key)
        let row: [Value]? = core.query {
            let statement = try core.connection.statement(
                "SELECT \(columns) FROM \(table.table) AS h WHERE \(condition)")
            defer { statement.reset() }
            statement.bind(parameter, at: 1)
            return try statement.step() ? statement.row(table.storedTypes).values : nil
        }
        if let row, let presence, row[presence].isNull { return nil }
        return row
    }

    /// Whether the object that existed before the changes has been deleted, even if another object took its place.
    func isGone(_ changes: ChangeSet?, _ core: RealmCore) -> Bool {
        guard let own = changes?[hostClass], !own.isEverything else { return read(core) == nil }
        // Another row may have taken its rowid.
        if own.deleted.contains(host) { return true }
        guard let presence, own.modified[host]?.contains(presence) == true else { return false }
        // The server writes whole rows, so a write to the presence column doesn't mean anything.
        return !core.file.isSynced || read(core) == nil
    }
}
