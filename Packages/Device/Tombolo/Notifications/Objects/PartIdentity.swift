internal import TomboloModel
internal import TomboloSQLiteStore

/// The part of a row with an object's properties: the whole row for an object with a table, some columns for an
/// embedded one.
struct PartIdentity: Sendable {
    let hostClass: Int
    let host: Int64
    let layout: ObjectClass
    /// The host's column of the first property.
    let base: Int
    /// The prefix of the object's list names among the host's: `address.`.
    let prefix: String
    /// The host's column that says whether an embedded object exists; nil if it always does.
    let presence: Int?
}

extension PartIdentity {
    /// An object with a table.
    init(_ row: ManagedRow) {
        self.init(
            hostClass: row.classIndex, host: row.rowid, layout: row.core.objectClass(row.classIndex), base: 0,
            prefix: "", presence: nil)
    }

    var isEmbedded: Bool { base > 0 }

    func object(_ core: RealmCore) -> ObjectBase? {
        let row = core.row(core.classes[hostClass], rowid: host)
        if !isEmbedded { return row.managedObject() }
        return EmbeddedPlace(host: row, layout: layout, base: base, prefix: prefix).managedObject()
    }

    /// The object's key path as one of the host.
    func hostNames(_ names: [String]) -> [String] {
        prefix.split(separator: ".").map(String.init) + names
    }

    /// All columns of the host, or nil if the object doesn't exist.
    func read(_ core: RealmCore) -> [Value]? {
        let table = core.layout.tables[hostClass]
        let columns = table.columnList.isEmpty ? "1" : table.columnList
        let row: [Value]? = core.query {
            let statement = try core.connection.statement("SELECT \(columns) FROM \(table.table) WHERE rowid = ?")
            defer { statement.reset() }
            statement.bind(host, at: 1)
            return try statement.step() ? statement.row(table.storedTypes).values : nil
        }
        if let row, let presence, row[presence].isNull { return nil }
        return row
    }

    /// Whether the object that existed before the changes is gone, even if another took its place.
    func isGone(_ changes: ChangeSet?, _ core: RealmCore) -> Bool {
        guard let own = changes?[hostClass], !own.isEverything else { return read(core) == nil }
        // Another row may have taken its rowid.
        if own.deleted.contains(host) { return true }
        guard let presence, own.modified[host]?.contains(presence) == true else { return false }
        // The server writes whole rows, so a written presence column means nothing.
        return !core.file.isSynced || read(core) == nil
    }
}
