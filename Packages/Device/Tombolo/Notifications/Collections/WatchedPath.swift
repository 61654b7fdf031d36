internal import TomboloModel
internal import TomboloSQLiteStore

/// A key path through links, lists, embedded objects and LinkingObjects to a property, in a form that can be matched
/// with changes.
struct WatchedPath {
    struct Step {
        let classIndex: Int
        /// The class's properties whose writes count, as positions in ``ColumnSet``.
        var properties = ColumnSet()
        /// Element classes on the path whose deleted rows are recorded only with their owner.
        var losses: [Loss] = []
        /// Remembers links that may be added and removed.
        var links: LinkMemory?
        /// Leads from the next step's class back to this one.
        var hop: RowHop?
        /// Only set for the last step, which has no other hop.
        var arrivals: Arrivals?
    }

    /// In a synced file a link may exist before its object does. Until the object arrives, the link is nil or hidden.
    struct Arrivals {
        let targetClass: Int
        /// Leads from the objects to the step's rows that link to them.
        let hop: RowHop

        /// The affected rows, or nil if all may be.
        func rows(_ changes: ChangeSet, _ core: RealmCore) -> RowIDSet? {
            guard core.file.isSynced else { return [] }
            let targets = changes[targetClass]
            return targets.isEverything ? nil : hop.sources(of: targets.inserted, core)
        }
    }

    /// Deleted elements, which are recorded as a change of their owner's list.
    struct Loss {
        let elementClass: Int
        let root: Int
        /// The list's position in the root's ``ColumnSet``.
        let list: Int
        /// Leads from the root to the rows of the step. Nil if the root is the step's class.
        let hop: RowHop?

        /// The lists inside the elements of another list.
        static func inside(_ elementClass: Int, _ layout: FileLayout) -> [Loss] {
            let (schema, elements) = (layout.schema, layout.tables[elementClass])
            let root = schema.rootClassIndex(of: elementClass)
            return schema.elementClassIndexes(of: elementClass).map { inner in
                Loss(
                    elementClass: inner, root: root, list: schema[inner].listPosition(in: schema[root]),
                    hop: .owner(layout.tables[root], of: elements))
            }
        }

        /// The rows that lost elements, or nil if all may have.
        func rows(_ changes: ChangeSet, _ core: RealmCore) -> RowIDSet? {
            let (elements, owners) = (changes[elementClass], changes[root])
            if elements.isEverything || owners.isEverything { return nil }
            if elements.deleted.isEmpty { return [] }
            let changed = owners.modified.rowIDs { $0.contains(list) }
            return hop?.sources(of: changed, core) ?? changed
        }
    }

    let steps: [Step]

    /// - Returns: nil if the names don't lead anywhere.
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
        // Behind a final link, list or LinkingObjects, only the object's existence counts, not its content.
        let last = steps.count - 1
        if let hop = steps[last].hop, let current, steps[last].links == nil {
            steps[last].arrivals = Arrivals(targetClass: current, hop: hop)
        }
        steps[last].hop = nil
        self.steps = steps
    }

    /// Takes the name of one property from `names`, along with the embedded objects before it.
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

    /// Whether the path goes through LinkingObjects, whose links must be remembered.
    var needsMemory: Bool { steps.contains { $0.links != nil } }

    /// Makes the current version the starting point of the next changes.
    func begin(_ core: RealmCore) { for step in steps { step.links?.load(core) } }

    /// The rows of the first class for which something on the path changed, or nil if it may have for all. Call this
    /// once per change, in order.
    func affected(by changes: ChangeSet, _ core: RealmCore) -> RowIDSet? {
        var rows: RowIDSet? = RowIDSet()
        for (index, step) in steps.enumerated().reversed() {
            // Update the memory before any early return, to keep it current.
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
            // A newly arrived object changes the rows whose links point to it already.
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
    /// Whether a column of an element class isn't one of the app's properties.
    fileprivate func isElementColumn(_ column: Int) -> Bool {
        owner != nil && (column < ElementColumn.content || column == parentColumn)
    }

    /// The position of these elements' list in the root class's ``ColumnSet``.
    fileprivate func listPosition(in root: ClassSchema) -> Int {
        let name = owner?.property ?? ""
        let list = root.lists.firstIndex { name == $0.name || name.hasPrefix($0.name + ".") }
        return root.columns.count + (list ?? 0)
    }
}
