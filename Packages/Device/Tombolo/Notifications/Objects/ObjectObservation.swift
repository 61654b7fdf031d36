internal import TomboloModel
internal import TomboloSQLiteStore

/// Observes an object, embedded or not: its own properties, or those that key paths lead to.
final class ObjectObservation: Observation {
    enum Event {
        case change(ObjectBase, [PropertyChange])
        case deleted
    }

    private let core: RealmCore
    private var part: PartIdentity
    /// Each path with the position of its first property. Nil means the object's own properties.
    private let paths: [(property: Int, path: WatchedPath)]?
    private let tell: (Event) -> Void
    /// The host's columns as last reported to the app; empty if the object doesn't exist.
    private var values: [Value] = []
    /// For an object in a list: its own lists that have tables. Their deleted elements are recorded only with the root
    /// object.
    private let innerLists: [(property: Int, list: ListIdentity)]
    private var innerRows: [[Int64]] = []

    /// Stops the program if a key path doesn't lead anywhere.
    init(
        _ state: ObservationState, _ core: RealmCore, _ part: PartIdentity, _ keyPaths: [[String]]?,
        _ tell: @escaping (Event) -> Void
    ) {
        self.core = core
        self.part = part
        self.tell = tell
        paths = keyPaths.map { keyPaths in
            keyPaths.map { names in
                guard let property = part.layout.position(ofProperty: names.first ?? ""),
                    let path = WatchedPath(part.hostNames(names), from: part.hostClass, core.layout)
                else { programError(ChangeScope.notAKeyPath(names, part.layout.schema.name)) }
                return (property, path)
            }
        }
        let host = core.schema[part.hostClass]
        var innerLists: [(Int, ListIdentity)] = []
        if host.owner != nil {
            for (property, definition) in part.layout.properties.enumerated() {
                guard case .list = definition.slot,
                    let elements = core.schema.index(of: "\(host.name).\(part.prefix)\(definition.name)")
                else { continue }
                innerLists.append(
                    (
                        property,
                        ListIdentity(
                            hostClass: part.hostClass, host: part.host, key: part.key, elementClass: elements)
                    ))
            }
        }
        self.innerLists = innerLists
        super.init(state)
    }

    override func begin() {
        part.locate(core)
        values = part.read(core) ?? []
        innerRows = innerLists.map { ListRows(core, $0.list).all() ?? [] }
        for (_, path) in paths ?? [] { path.begin(core) }
    }

    override func skip(_ changes: PendingChanges) {
        let seen = part.follow(changes.changes, core)
        if part.isGone(seen, core) { _ = state.end() } else { begin() }
    }

    override func deliver(_ changes: PendingChanges?) {
        guard let changes else { return }
        let seen = part.follow(changes.changes, core)
        if part.isGone(seen, core) { return end() }
        let properties = changedProperties(seen)
        guard !properties.isEmpty, let present = part.read(core), let object = part.object(core) else { return }
        let old = changes.isOwn ? [] : values
        values = present
        tell(.change(object, properties.map { change($0, object, old: old) }))
    }

    private func end() {
        guard state.isActive else { return }
        tell(.deleted)
        _ = state.end()
    }

    // MARK: Observed properties

    /// Positions in the layout, in ascending order.
    private func changedProperties(_ changes: ChangeSet?) -> [Int] {
        let inner = changedInnerLists(changes)
        guard let paths else {
            let all = Array(part.layout.properties.indices)
            guard let changes, !changes[part.hostClass].isEverything else { return all.filter(isObserved) }
            let columns = changes[part.hostClass].modified[part.host] ?? ColumnSet()
            return all.filter { inner.contains($0) || isWritten($0, columns) }
        }
        var result: Set<Int> = []
        for (property, path) in paths {
            guard let changes else {
                path.begin(core)
                result.insert(property)
                continue
            }
            let rows = path.affected(by: changes, core)
            if rows?.contains(part.host) ?? true { result.insert(property) }
        }
        return result.sorted()
    }

    /// LinkingObjects aren't the object's own property.
    private func isObserved(_ property: Int) -> Bool {
        if case .linkingObjects = part.layout.properties[property].slot { false } else { true }
    }

    /// Changes inside an embedded object don't count; the embedded object can be observed itself.
    private func isWritten(_ property: Int, _ columns: ColumnSet) -> Bool {
        switch part.layout.properties[property].slot {
        case .column(let column), .embedded(let column), .array(let column):
            return columns.contains(part.base + column)
        case .list:
            let host = core.schema[part.hostClass]
            let name = part.prefix + part.layout.properties[property].name
            guard let list = host.lists.firstIndex(where: { $0.name == name }) else { return false }
            return columns.contains(host.columns.count + list)
        case .linkingObjects: return false
        }
    }

    private func changedInnerLists(_ changes: ChangeSet?) -> Set<Int> {
        var result: Set<Int> = []
        for (index, (property, list)) in innerLists.enumerated() {
            let elements = changes?[list.elementClass]
            if let elements, elements.isEmpty { continue }
            let rows = ListRows(core, list).all() ?? []
            var isChanged = rows != innerRows[index] || elements?.isEverything ?? true
            if !isChanged, let elements { isChanged = rows.contains { elements.modified[$0] != nil } }
            innerRows[index] = rows
            if isChanged { result.insert(property) }
        }
        return result
    }

    private func change(_ position: Int, _ object: ObjectBase, old: [Value]) -> PropertyChange {
        let property = part.layout.properties[position]
        var oldValue: Any?
        if case .column(let own) = property.slot, old.indices.contains(part.base + own) {
            let column = part.base + own
            oldValue = core.appValue(old[column], column, part.hostClass, property)
        }
        return PropertyChange(name: property.name, oldValue: oldValue, newValue: object[property.name])
    }
}
