internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore

/// A managed list: its elements are rows of the list's element class, ordered by rank and id. An element whose target
/// is not here is hidden, and shows again when the target arrives.
final class ManagedList: ListStorage {
    private struct Element {
        var id: Value
        var rank: String
        var target: Value
    }

    /// What the elements were read at.
    private struct Stamp: Equatable {
        var version: UInt64
        var elements: UInt64
        var targets: UInt64
    }

    private let row: ManagedRow
    private let elementClass: Int
    private let targetClass: Int
    private var elements: [Element] = []
    private var stamp: Stamp?

    private var core: RealmCore { row.core }

    init(row: ManagedRow, list: Int) {
        self.row = row
        let core = row.core
        elementClass = core.layout.tables[row.classIndex].listClasses[list]
        guard let target = core.linkTarget(of: elementClass, ElementColumn.target) else {
            programError("\(core.schema[elementClass].name) has no class to link to.")
        }
        targetClass = target
    }

    private var currentStamp: Stamp {
        Stamp(
            version: core.version, elements: core.membership[elementClass], targets: core.membership[targetClass])
    }

    private func load() {
        guard row.isValid else {
            programError("List has been invalidated: its object \(row.schema.name) \(row.key) was deleted.")
        }
        guard stamp != currentStamp else { return }
        let table = core.layout.tables[elementClass]
        let target = core.layout.tables[targetClass]
        let sql =
            "SELECT e._id, e.rank, e.target FROM \(table.table) AS e "
            + "JOIN \(target.table) AS t ON t.\(target.key) = e.target WHERE e.owner = ? ORDER BY e.rank, e._id"
        elements = core.query {
            let statement = try core.connection.statement(sql)
            defer { statement.reset() }
            statement.bind(row.key, at: 1)
            var found: [Element] = []
            while try statement.step() {
                found.append(
                    Element(
                        id: statement.value(at: 0, as: .objectId), rank: statement.text(at: 1),
                        target: statement.value(at: 2, as: target.keyType)))
            }
            return found
        }
        stamp = currentStamp
    }

    /// The elements are the present ones after own writes, unless those made an object that a hidden element awaits:
    /// then the next batch or transaction shows it.
    private func keepElements() { stamp = currentStamp }

    // MARK: ListStorage

    var count: Int {
        load()
        return elements.count
    }

    var isValid: Bool { row.isValid }

    func element(at position: Int) -> Stored {
        load()
        return .object(
            core.row(ObjectReference(classIndex: targetClass, key: elements[position].target)).managedObject())
    }

    private func key(of element: Stored) -> Value? {
        if case .object(let object as Object) = element { core.managed(object)?.key } else { nil }
    }

    func insert(_ elements: [Stored], at position: Int) {
        core.requireWrite()
        load()
        insert(targets: elements.compactMap(key), at: position)
    }

    func replace(_ element: Stored, at position: Int) {
        core.requireWrite()
        load()
        guard let target = key(of: element) else { return }
        elements[position].target = target
        core.record(
            .set(
                ObjectReference(classIndex: elementClass, key: elements[position].id),
                [FieldWrite(column: ElementColumn.target, value: target)]))
        keepElements()
    }

    func remove(_ positions: Range<Int>) { for position in positions.reversed() { remove(at: position) } }

    func move(from source: Int, to target: Int) {
        core.requireWrite()
        load()
        let moved = elements.remove(at: source)
        let key = moved.target
        core.record(.erase(ObjectReference(classIndex: elementClass, key: moved.id)))
        insert(targets: [key], at: target)
    }

    private func insert(targets: [Value], at position: Int) {
        guard !targets.isEmpty else { return }
        let ranks = makeRoom(for: targets.count, at: position)
        var added: [Element] = []
        for (rank, target) in zip(ranks, targets) {
            let id = Value.objectId(.generate())
            core.record(Self.creation(elementClass, id: id, owner: row.key, rank: rank, target: target))
            added.append(Element(id: id, rank: rank, target: target))
        }
        elements.insert(contentsOf: added, at: position)
        keepElements()
    }

    /// The instruction that makes an element.
    static func creation(_ elementClass: Int, id: Value, owner: Value, rank: String, target: Value) -> Instruction {
        .create(
            ObjectReference(classIndex: elementClass, key: id),
            [
                FieldWrite(column: ElementColumn.owner, value: owner),
                FieldWrite(column: ElementColumn.rank, value: .string(rank)),
                FieldWrite(column: ElementColumn.target, value: target),
            ])
    }

    /// Ranks for new elements. Where two neighbours leave no room, as after appending on two devices at once, the whole
    /// list gets new ranks.
    private func makeRoom(for count: Int, at position: Int) -> [String] {
        let lower = position > 0 ? elements[position - 1].rank : nil
        let upper = position < elements.count ? elements[position].rank : nil
        if let ranks = try? FractionalRank.sequence(count: count, between: lower, upper) { return ranks }
        guard let all = try? FractionalRank.sequence(count: elements.count + count, between: nil, nil) else {
            programError("A list of \(elements.count + count) elements has no ranks.")
        }
        for index in elements.indices {
            let rank = all[index < position ? index : index + count]
            guard rank != elements[index].rank else { continue }
            elements[index].rank = rank
            core.record(
                .set(
                    ObjectReference(classIndex: elementClass, key: elements[index].id),
                    [FieldWrite(column: ElementColumn.rank, value: .string(rank))]))
        }
        return Array(all[position..<(position + count)])
    }

    func remove(at position: Int) {
        core.requireWrite()
        load()
        core.record(.erase(ObjectReference(classIndex: elementClass, key: elements[position].id)))
        elements.remove(at: position)
        keepElements()
    }

    func removeAll() {
        core.requireWrite()
        load()
        for element in elements { core.record(.erase(ObjectReference(classIndex: elementClass, key: element.id))) }
        elements = []
        keepElements()
    }

    /// The upsert of a list. `all` empties and refills it; otherwise positions that hold another object are set, and
    /// the tail is appended or cut, so that less is sent.
    func assign(_ targets: [Value], all: Bool) {
        load()
        if all {
            removeAll()
            insert(targets: targets, at: 0)
            return
        }
        for index in 0..<min(elements.count, targets.count) where elements[index].target != targets[index] {
            elements[index].target = targets[index]
            core.record(
                .set(
                    ObjectReference(classIndex: elementClass, key: elements[index].id),
                    [FieldWrite(column: ElementColumn.target, value: targets[index])]))
        }
        keepElements()
        while elements.count > targets.count { remove(at: elements.count - 1) }
        if targets.count > elements.count { insert(targets: Array(targets[elements.count...]), at: elements.count) }
    }
}
