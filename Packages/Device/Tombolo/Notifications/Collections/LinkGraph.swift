internal import TomboloModel
internal import TomboloSQLiteStore

/// Follows links backwards, from changed rows to the rows that lead to them.
struct LinkGraph {
    /// A connection from one class to another.
    struct Hop {
        let source: Int
        let target: Int
        /// Leads from rows of the target to rows of the source.
        let rows: RowHop
    }

    /// By target class.
    let hops: [[Hop]]
    /// For each element class, the lists inside its elements. Empty for other classes, whose objects count as modified
    /// when their lists lose elements.
    private let losses: [[WatchedPath.Loss]]
    private let isElement: [Bool]

    init(_ layout: FileLayout) {
        let schema = layout.schema
        var hops: [[Hop]] = Array(repeating: [], count: schema.classes.count)
        func add(_ source: TableLayout, to target: TableLayout, _ rows: RowHop) {
            hops[target.classIndex].append(Hop(source: source.classIndex, target: target.classIndex, rows: rows))
        }
        for table in layout.tables where !table.schema.isEmbedded {
            let owner = table.schema.owner
            let root = owner.flatMap { schema.index(of: $0.className) }.map { layout.tables[$0] }
            let parent = owner?.parent.flatMap { schema.index(of: $0) }.map { layout.tables[$0] }
            // Lists of embedded objects are observed along with the content of their elements.
            if let parent { add(parent, to: table, .elements(table, of: parent)) }
            for (column, definition) in table.schema.columns.enumerated() {
                guard let index = definition.linkTarget.flatMap({ schema.index(of: $0) }) else { continue }
                let target = layout.tables[index]
                guard owner != nil else {
                    add(table, to: target, .link(column, of: table, to: target))
                    continue
                }
                guard let root, column != ElementColumn.owner, column != table.schema.parentColumn else { continue }
                add(root, to: target, .list(table, of: root, column: column, to: target))
                if case .embedded? = owner?.element {
                    add(table, to: target, .link(column, of: table, to: target))
                } else if let parent {
                    add(parent, to: target, .list(table, of: parent, column: column, to: target))
                }
            }
        }
        self.hops = hops
        isElement = schema.classes.map { $0.owner != nil }
        losses = schema.classes.indices.map { schema[$0].owner == nil ? [] : WatchedPath.Loss.inside($0, layout) }
    }

    /// The rows of a class that changed or that lead to a changed row over at most `depth` links; nil if all may. An
    /// element that only moved within its list hasn't changed.
    func rows(of classIndex: Int, reaching changes: ChangeSet, within depth: Int, _ core: RealmCore) -> RowIDSet? {
        let distances = distances(from: classIndex, within: depth)
        var frontier: [Int: RowIDSet] = [:]
        for (changed, item) in changes.classes where distances[changed] != nil {
            if item.isEverything { return nil }
            // A newly arrived object changes the rows whose links point to it already.
            frontier[changed] =
                changed == classIndex
                ? changedRows(of: classIndex, item) : item.modified.rowIDs.union(item.inserted)
        }
        var reached = frontier
        for hop in 0..<depth where !frontier.isEmpty {
            var next: [Int: RowIDSet] = [:]
            for (target, rows) in frontier {
                for link in hops[target] {
                    guard let distance = distances[link.source], distance + hop + 1 <= depth else { continue }
                    let sources = link.rows.sources(of: rows, core).subtracting(reached[link.source] ?? [])
                    if sources.isEmpty { continue }
                    reached[link.source, default: []].formUnion(sources)
                    next[link.source, default: []].formUnion(sources)
                }
            }
            frontier = next
        }
        var result = reached[classIndex] ?? []
        for loss in losses[classIndex] {
            guard let lost = loss.rows(changes, core) else { return nil }
            result.formUnion(lost)
        }
        return result
    }

    /// If only the rank changed, the element merely moved, so it's left out. This happens before links are followed,
    /// because a moved element may still be reached through a change inside it.
    private func changedRows(of classIndex: Int, _ changes: ClassChanges) -> RowIDSet {
        isElement[classIndex] ? changes.modified.rowIDs { $0 != [ElementColumn.rank] } : changes.modified.rowIDs
    }

    /// The distance of each reachable class in links.
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
