internal import TomboloModel
internal import TomboloSQLiteStore

/// Listens to an object: to its own properties, or to what key paths lead to.
final class ObjectObservation: Observation {
    enum Event {
        case change(Object, [PropertyChange])
        case deleted
    }

    private let core: RealmCore
    private let classIndex: Int
    private let rowID: Int64
    /// Nil for the object's own properties.
    private let paths: [WatchedPath]?
    private let tell: (Event) -> Void
    /// What the app has been told; empty where the object is not there.
    private var values: [Value] = []

    init(
        _ state: ObservationState, _ core: RealmCore, _ classIndex: Int, _ rowID: Int64, _ paths: [WatchedPath]?,
        _ tell: @escaping (Event) -> Void
    ) {
        self.core = core
        self.classIndex = classIndex
        self.rowID = rowID
        self.paths = paths
        self.tell = tell
        super.init(state)
    }

    private var item: ClassSchema { core.schema[classIndex] }

    override func begin() { values = read() ?? [] }

    private func read() -> [Value]? {
        let table = core.layout.tables[classIndex]
        let columns = table.columnList.isEmpty ? "1" : table.columnList
        return core.query {
            let statement = try core.connection.statement("SELECT \(columns) FROM \(table.table) WHERE rowid = ?")
            defer { statement.reset() }
            statement.bind(rowID, at: 1)
            return try statement.step() ? statement.row(table.storedTypes).values : nil
        }
    }

    override func skip(_ changes: PendingChanges) { values = read() ?? [] }

    override func deliver(_ changes: PendingChanges?) {
        guard let changes else { return }
        let own = changes.changes?[classIndex]
        if let own, !own.isEverything {
            // Another row may have its rowid by now.
            if own.deleted.contains(rowID) { return end() }
        } else if read() == nil {
            return end()
        }
        let properties = changedProperties(changes.changes)
        guard !properties.isEmpty, let present = read() else { return }
        let object = core.row(core.classes[classIndex], rowid: rowID).managedObject()
        let old = changes.isOwn ? [] : values
        values = present
        let told = properties.compactMap { change($0, object, old: old, new: present) }
        if !told.isEmpty { tell(.change(object, told)) }
    }

    private func end() {
        guard state.isActive else { return }
        tell(.deleted)
        _ = state.end()
    }

    /// Columns and lists, by their place in ``ColumnSet``; ascending.
    private func changedProperties(_ changes: ChangeSet?) -> [Int] {
        guard let paths else {
            let all = Array(0..<(item.columns.count + item.lists.count))
            guard let own = changes?[classIndex], !own.isEverything else { return all }
            return own.modified[rowID].map { columns in all.filter(columns.contains) } ?? []
        }
        var result: Set<Int> = []
        for path in paths {
            let rows = changes.map { path.affected(by: $0, core) } ?? nil
            if rows?.contains(rowID) ?? true { result.formUnion(path.steps[0].properties.positions) }
        }
        return result.sorted()
    }

    /// Nil for a column inside an embedded object, which is observed by itself.
    private func change(_ position: Int, _ object: Object, old: [Value], new: [Value]) -> PropertyChange? {
        let layout = core.objectClass(classIndex)
        let isColumn = position < item.columns.count
        let property = layout.properties[
            isColumn ? layout.propertyOfColumn[position] : layout.propertyOfList[position - item.columns.count]]
        var oldValue: Any?
        switch property.slot {
        case .embedded(let presence): if position != presence { return nil }
        case .list: if property.name != item.lists[position - item.columns.count].name { return nil }
        case .column where old.indices.contains(position):
            oldValue = core.appValue(old[position], position, classIndex, property)
        case .column, .array, .linkingObjects: break
        }
        return PropertyChange(name: property.name, oldValue: oldValue, newValue: object[property.name])
    }
}
