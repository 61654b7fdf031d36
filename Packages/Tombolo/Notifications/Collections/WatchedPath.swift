internal import TomboloModel
internal import TomboloSQLiteStore

/// A key path as changes see it: through links and lists to a property.
struct WatchedPath {
    struct Step {
        let classIndex: Int
        /// The property, by its place in ``ColumnSet``.
        let properties: ColumnSet
        /// From the class of the next step back to this one.
        let hop: LinkGraph.Hop?
    }

    let steps: [Step]
    /// The first name, which the property goes by.
    let name: String

    /// - Returns: nil where the names do not lead anywhere.
    init?(_ names: [String], from classIndex: Int, _ schema: Schema, _ graph: LinkGraph) {
        guard let first = names.first else { return nil }
        name = first
        var steps: [Step] = []
        var current: Int? = classIndex
        var rest = names[...]
        while !rest.isEmpty {
            guard let index = current, let (position, length, target) = Self.property(rest, schema[index]) else {
                return nil
            }
            rest = rest.dropFirst(length)
            current = target.flatMap { schema.index(of: $0) }
            // Changes within embedded objects are changes of the list.
            if target == nil, position >= schema[index].columns.count { rest = [] }
            let hop = current.flatMap { next in
                graph.hops[next].first { $0.source == index && $0.property == position }
            }
            guard rest.isEmpty || hop != nil else { return nil }
            steps.append(Step(classIndex: index, properties: [position], hop: rest.isEmpty ? nil : hop))
        }
        self.steps = steps
    }

    /// Whether the last property is a link.
    func endsInLink(_ schema: Schema) -> Bool {
        guard let last = steps.last, let position = last.properties.positions.first else { return false }
        let columns = schema[last.classIndex].columns
        return columns.indices.contains(position) && columns[position].linkTarget != nil
    }

    /// The property that names begin with, joined greedily; its place, how many names it takes, and where it leads.
    private static func property(
        _ names: ArraySlice<String>, _ item: ClassSchema
    ) -> (position: Int, length: Int, target: String?)? {
        for length in (1...names.count).reversed() {
            let name = names.prefix(length).joined(separator: ".")
            if let column = item.columnIndex(name) { return (column, length, item.columns[column].linkTarget) }
            if let list = item.lists.firstIndex(where: { $0.name == name }) {
                return (item.columns.count + list, length, item.lists[list].target)
            }
        }
        return nil
    }

    /// The rows of the first class from which something changed can be seen through the path; nil where it may be all.
    func affected(by changes: ChangeSet, _ core: RealmCore) -> RowIDSet? {
        var rows = RowIDSet()
        for (index, step) in steps.enumerated().reversed() {
            let item = changes[step.classIndex]
            if item.isEverything { return nil }
            if let hop = step.hop { rows = hop.sources(of: rows, core) }
            rows.formUnion(item.modified.rowIDs { !$0.isDisjoint(with: step.properties) })
            // An object that came is news to those whose links waited for it.
            if index > 0 { rows.formUnion(item.inserted) }
        }
        return rows
    }
}
