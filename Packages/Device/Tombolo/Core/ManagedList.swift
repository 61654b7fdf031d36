internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore

/// A managed list. Its elements are rows of the list's element class, ordered by rank and ID. An element whose target
/// isn't on the device is hidden until the target arrives.
final class ManagedList: ListStorage {
    /// The row that owns the list. It belongs to an object, or to a list element whose embedded object has the list.
    let host: ManagedRow
    let elementType: ManagedClass
    /// The target class of a list of links.
    let targetType: ManagedClass?
    /// The layout of a list's embedded objects.
    private let itemLayout: ObjectClass?
    private let isScalar: Bool
    private let content: ListContent

    private var core: RealmCore { host.core }

    /// Identifies the list for observers, in every Realm of the file.
    var identity: ListIdentity {
        ListIdentity(
            hostClass: host.classIndex, host: host.rowid, key: host.lastingKey, elementClass: elementType.index)
    }

    var realmCore: RealmCore { host.core }

    func isSameList(as other: any ListStorage) -> Bool {
        guard let other = other as? ManagedList else { return false }
        return elementType === other.elementType && host.isSameObject(as: other.host)
    }

    /// A query for the elements, or the objects they point to.
    var query: ObjectQuery {
        var query = ObjectQuery(classIndex: (targetType ?? elementType).index)
        query.source = ObjectQuery.ListSource(
            elementClass: elementType.index, parent: host.elementID ?? host.key,
            parentType: host.type.table.keyType)
        return query
    }

    func moved(to core: RealmCore) -> ManagedList {
        ManagedList(
            host: host.moved(to: core), elementType: core.classes[elementType.index], itemLayout: itemLayout)
    }

    init(host: ManagedRow, elementType: ManagedClass, itemLayout: ObjectClass?) {
        self.host = host
        self.elementType = elementType
        content = host.list(elementType)
        if elementType.isListOfLinks, let target = elementType.linkTargets[ElementColumn.target] {
            targetType = host.core.classes[target]
        } else {
            targetType = nil
        }
        isScalar = !elementType.isListOfLinks && !elementType.isListOfEmbedded
        self.itemLayout = elementType.isListOfEmbedded ? itemLayout : nil
    }

    private func load() { core.locked { loadIfNeeded() } }

    private func loadIfNeeded() {
        guard host.isValid else {
            programError("List has been invalidated: its object, a \(host.schema.name), was deleted.")
        }
        guard content.stamp != elementType.stamp || content.membership != (targetType?.membership ?? 0) else { return }
        let (sql, isScalar, scalarType) = (selection, isScalar, elementType.table.storedTypes[ElementColumn.content])
        let parent = host.elementID ?? host.key
        content.rows.removeAll(keepingCapacity: true)
        content.targets.removeAll(keepingCapacity: true)
        content.values.removeAll(keepingCapacity: true)
        content.lastRank = nil
        core.query {
            let statement = try core.connection.statement(sql)
            defer { statement.reset() }
            statement.bind(parent, at: 1)
            while try statement.step() {
                content.rows.append(statement.integer(at: 0))
                if targetType != nil { content.targets.append(statement.integer(at: 1)) }
                if isScalar { content.values.append(statement.value(at: 1, as: scalarType)) }
            }
        }
        keep()
    }

    private var selection: String {
        let table = elementType.table
        let column = table.columnNames[ElementColumn.content]
        let end = "WHERE \(table.childCondition) ORDER BY \(table.elementOrder)"
        if let target = targetType?.table {
            return "SELECT e.rowid, t.rowid FROM \(table.table) AS e "
                + "JOIN \(target.table) AS t ON t.\(target.key) = e.\(column) \(end)"
        }
        return "SELECT e.rowid\(isScalar ? ", e.\(column)" : "") FROM \(table.table) AS e \(end)"
    }

    /// Marks the content as current after the Realm's own writes. If those writes created an object that a hidden
    /// element waits for, the element appears with the next batch or transaction.
    private func keep() {
        content.stamp = elementType.stamp
        content.membership = targetType?.membership ?? 0
    }

    private func row(_ position: Int) -> ManagedRow { core.row(elementType, rowid: content.rows[position]) }

    /// The list's place, for finding it in other Realms of the file.
    var place: ConfinedPlace.Content {
        .list(RowPlace(host), elementClass: elementType.index, itemLayout: itemLayout)
    }

    // MARK: ListStorage

    var isValid: Bool { host.isValid }

    var count: Int {
        load()
        return content.rows.count
    }

    func element(at position: Int) -> Stored {
        load()
        if let targetType { return .object(core.row(targetType, rowid: content.targets[position]).managedObject()) }
        guard let itemLayout else { return .value(content.values[position]) }
        return embedded(row(position), itemLayout)
    }

    private func embedded(_ row: ManagedRow, _ layout: ObjectClass) -> Stored {
        let place = EmbeddedPlace(host: row, layout: layout, base: ElementColumn.content, prefix: "")
        guard let object = place.managedObject() else { programError("\(layout.schema.name) has no objects.") }
        return .object(object)
    }

    func snapshot() -> AnyIterator<Stored> {
        load()
        guard targetType != nil || itemLayout != nil else {
            return AnyIterator(content.values.lazy.map { Stored.value($0) }.makeIterator())
        }
        var rest = targetType == nil ? content.rows[...] : content.targets[...]
        return AnyIterator { [self] in
            while let rowid = rest.popFirst() {
                let row = core.row(targetType ?? elementType, rowid: rowid)
                if row.isValid { return itemLayout.map { embedded(row, $0) } ?? .object(row.managedObject()) }
            }
            return nil
        }
    }

    func insert(_ elements: [Stored], at position: Int) {
        core.requireWrite()
        load()
        var addition = Addition(policy: .error)
        var items: [ListItem] = []
        for element in elements {
            guard let item = core.item(element, elementType, &addition) else { return }
            items.append(item)
        }
        insert(items, at: position, &addition)
        core.addWaiting(&addition)
        keep()
    }

    /// Inserts elements. Objects they link to wait for ``RealmCore/addWaiting(_:)``.
    private func insert(_ items: [ListItem], at position: Int, _ addition: inout Addition) {
        guard !items.isEmpty else { return }
        let ranks = makeRoom(for: items.count, at: position)
        let (owner, parent) = (host.rootKey, host.elementID)
        let added = ListContent()
        var isKnown = true
        for (item, rank) in zip(items, ranks) {
            guard let row = core.insert(item, elementType, owner: owner, parent: parent, rank: rank, &addition) else {
                return
            }
            added.rows.append(row.rowid)
            switch item {
            case .value(let value): added.values.append(value)
            case .link(_, let rowid):
                added.targets.append(rowid ?? 0)
                if rowid == nil { isKnown = false }
            case .embedded: break
            }
        }
        if position == content.rows.count { content.lastRank = ranks.last }
        content.rows.insert(contentsOf: added.rows, at: position)
        content.targets.insert(contentsOf: added.targets, at: min(position, content.targets.count))
        content.values.insert(contentsOf: added.values, at: min(position, content.values.count))
        if isKnown { keep() } else { content.stamp = 0 }
        noteInsertion(into: owner)
    }

    /// Notes that a property of the list's object has changed.
    private func noteInsertion(into owner: Value) {
        core.perform { try core.writer.noteList(of: owner, elementType.index) }
    }

    private func rank(_ position: Int) -> String? {
        guard content.rows.indices.contains(position) else { return nil }
        if position == content.rows.count - 1, let last = content.lastRank { return last }
        if case .string(let rank) = row(position).value(at: ElementColumn.rank) { return rank }
        return nil
    }

    /// Ranks for new elements. If two neighbours leave no room, for instance after two devices appended at once, the
    /// whole list gets new ranks.
    private func makeRoom(for count: Int, at position: Int) -> [String] {
        if let ranks = try? FractionalRank.sequence(count: count, between: rank(position - 1), rank(position)) {
            return ranks
        }
        let present = content.rows.count
        guard let all = try? FractionalRank.sequence(count: present + count, between: nil, nil) else {
            programError("A list of \(present + count) elements has no ranks.")
        }
        for index in 0..<present {
            set(ElementColumn.rank, to: .string(all[index < position ? index : index + count]), at: index)
        }
        content.lastRank = nil
        return Array(all[position..<(position + count)])
    }

    private func set(_ column: Int, to value: Value, at position: Int) {
        row(position).set([FieldWrite(column: column, value: value)])
    }

    func replace(_ element: Stored, at position: Int) {
        core.requireWrite()
        load()
        var addition = Addition(policy: .error)
        guard let item = core.item(element, elementType, &addition) else { return }
        if case .embedded = item {
            guard let rank = rank(position) else { return }
            let owner = (host.rootKey, host.elementID)
            core.eraseElement(row(position))
            guard let row = core.insert(item, elementType, owner: owner.0, parent: owner.1, rank: rank, &addition)
            else { return }
            content.rows[position] = row.rowid
            noteInsertion(into: owner.0)
        } else {
            set(item, at: position)
        }
        core.addWaiting(&addition)
        keep()
    }

    /// Sets an element's value or target.
    private func set(_ item: ListItem, at position: Int) {
        switch item {
        case .value(let value):
            set(ElementColumn.content, to: value, at: position)
            content.values[position] = value
        case .link(let key, let rowid):
            set(ElementColumn.target, to: key, at: position)
            content.targets[position] = rowid ?? 0
            if rowid == nil { content.stamp = 0 }
        case .embedded: break
        }
    }

    func remove(_ positions: Range<Int>) {
        core.requireWrite()
        load()
        cut(positions)
    }

    /// Removes elements, by their positions in the content as last read or written.
    private func cut(_ positions: Range<Int>) {
        for position in positions { core.eraseElement(row(position)) }
        if positions.upperBound == content.rows.count { content.lastRank = nil }
        content.rows.removeSubrange(positions)
        if targetType != nil { content.targets.removeSubrange(positions) }
        if isScalar { content.values.removeSubrange(positions) }
        keep()
    }

    func removeAll() {
        let (count, hidden) = (count, hiddenRows)
        guard count > 0 || !hidden.isEmpty else { return }
        core.requireWrite()
        for rowid in hidden { core.eraseElement(core.row(elementType, rowid: rowid)) }
        if count > 0 { remove(0..<count) }
    }

    /// The elements whose target isn't on the device. A local file has none, because its elements are deleted with
    /// their target.
    private var hiddenRows: [Int64] {
        guard core.file.isSynced, let target = targetType?.table else { return [] }
        let table = elementType.table
        let column = table.columnNames[ElementColumn.target]
        return core.query {
            let statement = try core.connection.statement(
                "SELECT e.rowid FROM \(table.table) AS e WHERE \(table.childCondition) "
                    + "AND NOT EXISTS (SELECT 1 FROM \(target.table) AS t WHERE t.\(target.key) = e.\(column))")
            defer { statement.reset() }
            statement.bind(host.elementID ?? host.key, at: 1)
            var found: [Int64] = []
            while try statement.step() { found.append(statement.integer(at: 0)) }
            return found
        }
    }

    /// Changes the element's rank, so that it remains the same element.
    func move(from source: Int, to target: Int) {
        core.requireWrite()
        load()
        // The current element that it will come before.
        let place = target > source ? target + 1 : target
        let ranks = makeRoom(for: 1, at: place)
        set(ElementColumn.rank, to: .string(ranks[0]), at: source)
        content.lastRank = nil
        content.rows.insert(content.rows.remove(at: source), at: target)
        if targetType != nil { content.targets.insert(content.targets.remove(at: source), at: target) }
        if isScalar { content.values.insert(content.values.remove(at: source), at: target) }
        keep()
    }

    /// Upserts a list. `all` empties and refills it. Otherwise only positions with a different value are set, embedded
    /// objects are updated in place, and the tail is extended or cut, so that less is sent.
    func assign(_ items: [ListItem], all: Bool, _ addition: inout Addition) {
        load()
        if all {
            removeAll()
            insert(items, at: 0, &addition)
            return
        }
        let common = min(items.count, content.rows.count)
        for position in 0..<common {
            switch items[position] {
            case .value(let value) where value == content.values[position]: continue
            case .link(_, let rowid) where rowid == content.targets[position]: continue
            case .link(let key, rowid: nil) where key == row(position).value(at: ElementColumn.target): continue
            case .embedded(let object):
                guard let itemLayout else { continue }
                let place = EmbeddedPlace(
                    host: row(position), layout: itemLayout, base: ElementColumn.content, prefix: "")
                guard core.update(place, with: object, &addition) else { return }
                object.attach(EmbeddedAccessor(place), itemLayout)
            case let item: set(item, at: position)
            }
        }
        // Don't reload the content: an element whose object is still to be added would be missing.
        if content.rows.count > items.count { cut(items.count..<content.rows.count) }
        insert(Array(items[common...]), at: common, &addition)
        if items.allSatisfy(\.isKnown) { keep() } else { content.stamp = 0 }
    }
}
