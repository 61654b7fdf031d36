internal import TomboloModel

/// The cached content of a ``Results``, for as long as it's current.
final class ResultsContent {
    let core: RealmCore
    let query: ObjectQuery
    let type: ManagedClass
    private let followsLinks: Bool
    /// The layout of a list's embedded objects.
    private let itemLayout: ObjectClass?
    private var stamp: UInt64 = 0
    private var knownRowIDs: [Int64]?
    private var knownCount: Int?

    init(core: RealmCore, query: ObjectQuery, elementClass: ObjectBase.Type?) {
        self.core = core
        self.query = query
        type = core.classes[query.classIndex]
        followsLinks = query.followsLinks
        itemLayout = type.isListOfEmbedded ? elementClass.map { ObjectClass.of($0) } : nil
    }

    private func update() {
        core.confinement.check()
        let current = followsLinks ? core.changeStamp : type.stamp
        guard stamp != current else { return }
        stamp = current
        knownRowIDs = nil
        knownCount = nil
    }

    /// The found rowids, in order.
    var rowids: [Int64] {
        core.locked {
            update()
            if let knownRowIDs { return knownRowIDs }
            let rowids = core.rowids(query)
            knownRowIDs = rowids
            return rowids
        }
    }

    var count: Int {
        core.locked {
            update()
            if let count = knownRowIDs?.count ?? knownCount { return count }
            let count = core.count(query)
            knownCount = count
            return count
        }
    }

    var first: Stored? {
        core.locked { () -> Int64? in
            update()
            return knownRowIDs.map(\.first) ?? core.rowids(query, limit: 1).first
        }.map(element)
    }

    /// The last element, found without reading all others.
    var last: Stored? {
        core.locked { () -> Int64? in
            update()
            return knownRowIDs.map(\.last) ?? core.rowids(query, limit: 1, isReversed: true).first
        }.map(element)
    }

    func element(at position: Int) -> Stored {
        let rowids = rowids
        guard rowids.indices.contains(position) else {
            programError("Index \(position) is out of bounds (must be less than \(rowids.count)).")
        }
        return element(rowids[position])
    }

    /// The element of a found row.
    private func element(_ rowid: Int64) -> Stored { element(core.row(type, rowid: rowid)) }

    private func element(_ row: ManagedRow) -> Stored {
        guard type.schema.owner != nil else { return .object(row.managedObject()) }
        guard let itemLayout else { return .value(row.value(at: ElementColumn.content)) }
        let place = EmbeddedPlace(host: row, layout: itemLayout, base: ElementColumn.content, prefix: "")
        guard let object = place.managedObject() else { programError("\(itemLayout.schema.name) has no objects.") }
        return .object(object)
    }

    /// The element of a row, or nil if the row no longer exists.
    func present(_ rowid: Int64) -> Stored? {
        let row = core.row(type, rowid: rowid)
        return row.isValid ? element(row) : nil
    }

    func position(of element: Stored) -> Int? {
        switch element {
        case .value(let value):
            return rowids.firstIndex { if case .value(value) = self.element($0) { true } else { false } }
        case .object(let object):
            let row: ManagedRow
            switch object.accessor {
            case let own as ManagedRow: row = own
            case let part as EmbeddedAccessor where part.place.presence == nil: row = part.place.host
            default: return nil
            }
            guard row.core === core, row.type === type, row.isValid else { return nil }
            return rowids.firstIndex(of: row.rowid)
        }
    }
}
