internal import TomboloModel
internal import TomboloSQLiteStore

/// Remembers the targets of links, so that the old target is known when a link changes. Confined like its Realm.
final class LinkMemory {
    private let origin: LinkOriginRows
    private let target: TableLayout
    /// The rowid of each link's target, by the rowid of the row with the link.
    private var targets: [Int64: Int64] = [:]

    init(_ origin: LinkOriginRows, to target: TableLayout) {
        self.origin = origin
        self.target = target
    }

    private var selection: String {
        let holder = origin.holder
        return "SELECT h.rowid, t.rowid FROM \(holder.table) AS h "
            + "JOIN \(target.table) AS t ON t.\(target.key) = h.\(holder.columnNames[origin.column])"
    }

    /// Forgets everything and reads all links.
    func load(_ core: RealmCore) { targets = read(selection, [], core) }

    private func read(_ sql: String, _ parameters: [Value], _ core: RealmCore) -> [Int64: Int64] {
        core.query {
            let statement = try core.connection.statement(sql)
            defer { statement.clear() }
            for (index, parameter) in parameters.enumerated() { statement.bind(parameter, at: index + 1) }
            var result: [Int64: Int64] = [:]
            while try statement.step() { result[statement.integer(at: 0)] = statement.integer(at: 1) }
            return result
        }
    }

    /// The rows that gained or lost links, or nil if all may have.
    func update(_ changes: ChangeSet, _ core: RealmCore) -> RowIDSet? {
        let holders = changes[origin.holder.classIndex]
        let own = changes[target.classIndex]
        if holders.isEverything || own.isEverything {
            load(core)
            return nil
        }
        let written = holders.modified.rowIDs { $0.contains(origin.column) }
        let touched = holders.inserted.union(holders.deleted).union(written)
        var result: [Int64] = []
        if !touched.isEmpty {
            for row in touched { if let old = targets.removeValue(forKey: row) { result.append(old) } }
            let found = read(
                selection + " WHERE h.rowid IN (SELECT value FROM json_each(?))", [.string(touched.json)], core)
            result.append(contentsOf: found.values)
            targets.merge(found) { $1 }
        }
        // Links may have existed before the objects they point to, which have now arrived.
        if !own.inserted.isEmpty {
            let found = read(
                selection + " WHERE t.rowid IN (SELECT value FROM json_each(?))", [.string(own.inserted.json)], core)
            targets.merge(found) { $1 }
        }
        return RowIDSet(result)
    }
}
