internal import TomboloModel
internal import TomboloSQLiteStore

/// A key path as changes see it: through links, lists, embedded objects and LinkingObjects to a property.
struct WatchedPath {
    struct Step {
        let classIndex: Int
        /// The properties of the class whose writing counts, by their places in ``ColumnSet``.
        var properties = ColumnSet()
        /// Element classes on the path whose rows leave no trace but with their owner when they are deleted.
        var losses: [Loss] = []
        /// Links that come and go.
        var links: LinkMemory?
        /// From the class of the next step back to this one.
        var hop: RowHop?
        /// Of the last step, which has no other hop.
        var arrivals: Arrivals?
    }

    /// In a synced file a link may be there before its object, and is nil or hidden until then.
    struct Arrivals {
        let targetClass: Int
        /// From the objects to the rows of the step that link to them.
        let hop: RowHop

        /// Nil where all may have come.
        func rows(_ changes: ChangeSet, _ core: RealmCore) -> RowIDSet? {
            guard core.file.isSynced else { return [] }
            let targets = changes[targetClass]
            return targets.isEverything ? nil : hop.sources(of: targets.inserted, core)
        }
    }

    /// Elements that were deleted: their owner's list changed.
    struct Loss {
        let elementClass: Int
        let root: Int
        /// The list, by its place in the root's ``ColumnSet``.
        let list: Int
        /// From the root to the rows of the step; nil where it is the root.
        let hop: RowHop?

        /// The lists inside the elements of another one.
        static func inside(_ elementClass: Int, _ layout: FileLayout) -> [Loss] {
            let (schema, elements) = (layout.schema, layout.tables[elementClass])
            let root = schema.rootClassIndex(of: elementClass)
            return schema.elementClassIndexes(of: elementClass).map { inner in
                Loss(
                    elementClass: inner, root: root, list: schema[inner].listPosition(in: schema[root]),
                    hop: .owner(layout.tables[root], of: elements))
            }
        }

        /// Nil where all may have lost elements.
        func rows(_ changes: ChangeSet, _ core: RealmCore) -> RowIDSet? {
            let (elements, owners) = (changes[elementClass], changes[root])
            if elements.isEverything || owners.isEverything { return nil }
            if elements.deleted.isEmpty { return [] }
            let changed = owners.modified.rowIDs { $0.contains(list) }
            return hop?.sources(of: changed, core) ?? changed
        }
    }

    let steps: [Step]

    /// - Returns: nil where the names do not lead anywhere.
    init?(_ names: [String], from classIndex: Int, _ layout: FileLayout) {
        guard !names.isEmpty else { return nil }
        var steps: [Step] = []
        var current: Int? = classIndex
        var rest = names[...]
        while !rest.isEmpty {
            guard let index = current, let found = Self.follow(&rest, index, layout) else { return nil }
            steps.append(contentsOf: found.steps)
            current = found.next
        }
        // What a last link, list or LinkingObjects leads to does not count, only whether it is there.
        let last = steps.count - 1
        if let hop = steps[last].hop, let current, steps[last].links == nil {
            steps[last].arrivals = Arrivals(targetClass: current, hop: hop)
        }
        steps[last].hop = nil
        self.steps = steps
    }

    /// Takes the name of a property from `names`; the embedded objects on the way are part of it.
    private static func follow(
        _ names: inout ArraySlice<String>, _ index: Int, _ layout: FileLayout
    ) -> (steps: [Step], next: Int?)? {
        let (schema, item) = (layout.schema, layout.schema[index])
        for length in (1...names.count).reversed() {
            let name = names.prefix(length).joined(separator: ".")
            if let column = item.columnIndex(name), !item.isElementColumn(column) {
                names = names.dropFirst(length)
                let next = item.columns[column].linkTarget.flatMap { schema.index(of: $0) }
                let hop = next.map { RowHop.link(column, of: layout.tables[index], to: layout.tables[$0]) }
                return ([Step(classIndex: index, properties: [column], hop: hop)], next)
            }
            if let list = item.lists.firstIndex(where: { $0.name == name }) {
                names = names.dropFirst(length)
                return follow(list: list, of: index, layout)
            }
            if length == 1, let origin = item.linkingObjects[name],
                let rows = LinkOriginRows(origin, to: index, layout)
            {
                names = names.dropFirst(length)
                let target = layout.tables[index]
                let step = Step(
                    classIndex: index, links: LinkMemory(rows, to: target), hop: .origins(rows, to: target))
                return ([step], rows.source.classIndex)
            }
        }
        return nil
    }

    private static func follow(
        list: Int, of index: Int, _ layout: FileLayout
    ) -> (steps: [Step], next: Int?)? {
        let (schema, item) = (layout.schema, layout.schema[index])
        guard let elementClass = schema.index(of: "\(item.name).\(item.lists[list].name)") else { return nil }
        let (table, elements) = (layout.tables[index], layout.tables[elementClass])
        let next = item.lists[list].target.flatMap { schema.index(of: $0) }
        let position = item.columns.count + list
        let isEmbedded = if case .embedded? = elements.schema.owner?.element { true } else { false }
        if item.owner == nil, !isEmbedded {
            // Every change of an element is a change of the list.
            let hop = next.map { RowHop.list(elements, of: table, to: layout.tables[$0]) }
            return ([Step(classIndex: index, properties: [position], hop: hop)], next)
        }
        let root = schema.rootClassIndex(of: index)
        let loss = Loss(
            elementClass: elementClass, root: root,
            list: item.owner == nil ? position : elements.schema.listPosition(in: schema[root]),
            hop: item.owner == nil ? nil : .owner(layout.tables[root], of: table))
        let outer = Step(classIndex: index, losses: [loss], hop: .elements(elements, of: table))
        if isEmbedded {
            return ([outer, Step(classIndex: elementClass, properties: [ElementColumn.rank])], elementClass)
        }
        let hop = next.map { RowHop.link(ElementColumn.target, of: elements, to: layout.tables[$0]) }
        return (
            [
                outer,
                Step(classIndex: elementClass, properties: [ElementColumn.rank, ElementColumn.content], hop: hop),
            ], next
        )
    }

    /// Whether the last property is a link.
    func endsInLink(_ schema: Schema) -> Bool {
        guard let last = steps.last, let position = last.properties.positions.first else { return false }
        let columns = schema[last.classIndex].columns
        return columns.indices.contains(position) && columns[position].linkTarget != nil
    }

    /// Whether LinkingObjects are on the way, whose links must be remembered.
    var needsMemory: Bool { steps.contains { $0.links != nil } }

    /// The version that the next changes start from is the present one.
    func begin(_ core: RealmCore) { for step in steps { step.links?.load(core) } }

    /// The rows of the first class from which something changed can be seen through the path; nil where it may be all.
    /// Call it once for every change, in their order.
    func affected(by changes: ChangeSet, _ core: RealmCore) -> RowIDSet? {
        var rows: RowIDSet? = RowIDSet()
        for (index, step) in steps.enumerated().reversed() {
            // Before any way out: what is remembered must be up to date.
            let linked = step.links.map { $0.update(changes, core) } ?? RowIDSet()
            let arrived = step.arrivals.map { $0.rows(changes, core) } ?? RowIDSet()
            let item = changes[step.classIndex]
            guard !item.isEverything, let linked, let arrived, let leading = rows else {
                rows = nil
                continue
            }
            var result = step.hop?.sources(of: leading, core) ?? leading
            result.formUnion(linked)
            result.formUnion(arrived)
            if !step.properties.isEmpty {
                result.formUnion(item.modified.rowIDs { !$0.isDisjoint(with: step.properties) })
            }
            // An object that came is news to those whose links waited for it.
            if index > 0 { result.formUnion(item.inserted) }
            rows = result
            for loss in step.losses {
                guard let lost = loss.rows(changes, core) else {
                    rows = nil
                    break
                }
                rows?.formUnion(lost)
            }
        }
        return rows
    }
}

extension ClassSchema {
    /// Whether a column of an element class is none of the app's properties.
    fileprivate func isElementColumn(_ column: Int) -> Bool {
        owner != nil && (column < ElementColumn.content || column == parentColumn)
    }

    /// The place, in the ``ColumnSet`` of the class at the root, of the list that these elements are in.
    fileprivate func listPosition(in root: ClassSchema) -> Int {
        let name = owner?.property ?? ""
        let list = root.lists.firstIndex { name == $0.name || name.hasPrefix($0.name + ".") }
        return root.columns.count + (list ?? 0)
    }
}
