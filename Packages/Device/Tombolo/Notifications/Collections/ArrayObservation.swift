internal import TomboloModel
internal import TomboloSQLiteStore

/// Observes a list that is stored in one column. The list is written as a whole, so changes are found by comparing its
/// elements.
final class ArrayObservation: Observation {
    private let core: RealmCore
    private var list: ArrayIdentity
    private let tell: (CollectionEvent) -> Void
    private var elements: [[Value]] = []
    private var isOver = false

    init(
        _ state: ObservationState, _ core: RealmCore, _ list: ArrayIdentity, _ tell: @escaping (CollectionEvent) -> Void
    ) {
        self.core = core
        self.list = list
        self.tell = tell
        super.init(state)
    }

    override var hasBeginning: Bool { true }

    override func begin() {
        list.part.locate(core)
        elements = read()
    }

    private func read() -> [[Value]] {
        guard let row = list.part.read(core), case .data(let data) = row[list.column] else { return [] }
        return ArrayCoding.decode(data, list.types) ?? []
    }

    override func deliver(_ changes: PendingChanges?) {
        guard let changes else { return tell(.initial) }
        let difference = update(changes)
        if !difference.isEmpty { tell(.update(difference)) }
    }

    override func skip(_ changes: PendingChanges) { _ = update(changes) }

    private func update(_ pending: PendingChanges) -> CollectionDifference {
        if isOver { return CollectionDifference() }
        let changes = list.part.follow(pending.changes, core)
        isOver = list.part.isGone(changes, core)
        if !isOver, let own = changes?[list.part.hostClass], !own.isEverything,
            own.modified[list.part.host]?.contains(list.column) != true
        {
            return CollectionDifference()
        }
        let old = elements
        elements = isOver ? [] : read()
        return CollectionDifference(from: old, to: elements)
    }
}

/// A list stored in one column, identified by its object.
struct ArrayIdentity: Sendable {
    var part: PartIdentity
    /// The host's column.
    let column: Int
    /// The types of an element's parts.
    let types: [PropertyType]
}
