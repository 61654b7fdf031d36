internal import TomboloModel
internal import TomboloSQLiteStore

/// Follows links backwards, from changed rows to those that lead to them.
struct LinkGraph {
    /// One way from a class to another.
    struct Hop {
        let source: Int
        let target: Int
        /// The link's place among the source's properties: see ``ColumnSet``.
        let property: Int
        /// Selects the source's rowids for those of the target, a JSON array.
        let sql: String

        func sources(of targets: RowIDSet, _ core: RealmCore) -> RowIDSet {
            if targets.isEmpty { return [] }
            return core.query { RowIDSet(try core.rowIDs(sql, [.string(targets.json)])) }
        }
    }

    /// By target class.
    let hops: [[Hop]]

    init(_ layout: StoreLayout) {
        let schema = layout.schema
        var hops: [[Hop]] = Array(repeating: [], count: schema.classes.count)
        for table in layout.tables where !table.schema.isEmbedded {
            for (column, definition) in table.schema.columns.enumerated() {
                guard let target = definition.linkTarget.flatMap({ schema.index(of: $0) }) else { continue }
                let name = table.columnNames[column]
                let other = layout.tables[target]
                let keys =
                    "SELECT t.\(other.key) FROM \(other.table) AS t WHERE t.rowid IN (SELECT value FROM json_each(?))"
                if let owner = table.schema.owner {
                    guard column != ElementColumn.owner, column != table.schema.parentColumn,
                        let source = schema.index(of: owner.className),
                        let list = schema[source].lists.firstIndex(where: {
                            owner.property == $0.name || owner.property.hasPrefix($0.name + ".")
                        })
                    else { continue }
                    let root = layout.tables[source]
                    hops[target].append(
                        Hop(
                            source: source, target: target, property: schema[source].columns.count + list,
                            sql: "SELECT o.rowid FROM \(root.table) AS o WHERE o.\(root.key) IN (SELECT e."
                                + "\(table.columnNames[ElementColumn.owner]) FROM \(table.table) AS e "
                                + "WHERE e.\(name) IN (\(keys)))"))
                } else {
                    hops[target].append(
                        Hop(
                            source: table.classIndex, target: target, property: column,
                            sql: "SELECT o.rowid FROM \(table.table) AS o WHERE o.\(name) IN (\(keys))"))
                }
            }
        }
        self.hops = hops
    }

    /// The rows of a class that changed, or that so many links or fewer lead from to one that did; nil where all may
    /// have.
    func rows(of classIndex: Int, reaching changes: ChangeSet, within depth: Int, _ core: RealmCore) -> RowIDSet? {
        let distances = distances(from: classIndex, within: depth)
        var frontier: [Int: RowIDSet] = [:]
        for (changed, item) in changes.classes where distances[changed] != nil {
            if item.isEverything { return nil }
            // An object that came is news to those whose links waited for it.
            frontier[changed] = item.modified.rowIDs.union(changed == classIndex ? [] : item.inserted)
        }
        var reached = frontier
        for hop in 0..<depth where !frontier.isEmpty {
            var next: [Int: RowIDSet] = [:]
            for (target, rows) in frontier {
                for link in hops[target] {
                    guard let distance = distances[link.source], distance + hop + 1 <= depth else { continue }
                    let sources = link.sources(of: rows, core).subtracting(reached[link.source] ?? [])
                    if sources.isEmpty { continue }
                    reached[link.source, default: []].formUnion(sources)
                    next[link.source, default: []].formUnion(sources)
                }
            }
            frontier = next
        }
        return reached[classIndex] ?? []
    }

    /// How many links away the classes are that can be reached.
    private func distances(from classIndex: Int, within depth: Int) -> [Int: Int] {
        var result = [classIndex: 0]
        for distance in 1...depth {
            for links in hops {
                for link in links where result[link.source] == distance - 1 && result[link.target] == nil {
                    result[link.target] = distance
                }
            }
        }
        return result
    }
}
