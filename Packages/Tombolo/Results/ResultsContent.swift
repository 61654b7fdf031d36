internal import TomboloModel

/// What a ``Results`` found, for as long as it is still so.
final class ResultsContent {
    let core: RealmCore
    let query: ObjectQuery
    private let type: ManagedClass
    private let followsLinks: Bool
    private var stamp: UInt64 = 0
    private var knownRowIDs: [Int64]?
    private var knownCount: Int?

    init(core: RealmCore, query: ObjectQuery) {
        self.core = core
        self.query = query
        type = core.classes[query.classIndex]
        followsLinks = query.followsLinks
    }

    private func update() {
        core.confinement.check()
        let current = followsLinks ? core.changeStamp : type.stamp
        guard stamp != current else { return }
        stamp = current
        knownRowIDs = nil
        knownCount = nil
    }

    /// The rowids of what was found, in order.
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

    var first: Object? {
        core.locked { update() }
        guard let rowid = knownRowIDs.map(\.first) ?? core.rowids(query, limit: 1).first else { return nil }
        return core.row(type, rowid: rowid).managedObject()
    }

    func object(at position: Int) -> Object {
        let rowids = rowids
        guard rowids.indices.contains(position) else {
            programError("Index \(position) is out of range: the results have \(rowids.count) elements.")
        }
        return core.row(type, rowid: rowids[position]).managedObject()
    }
}
