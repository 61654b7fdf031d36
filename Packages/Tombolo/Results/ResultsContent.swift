internal import TomboloModel

/// What a ``Results`` found, for as long as it is still so: the keys, and the rows of the page last looked at.
final class ResultsContent {
    /// Rows fetched at once.
    static let pageSize = 256

    let core: RealmCore
    let query: ObjectQuery
    private var stamp: Stamp?
    private var knownKeys: [Value]?
    private var knownCount: Int?
    private var page: [ManagedRow] = []
    private var pageStart = 0

    /// What the content was found at.
    private struct Stamp: Equatable {
        var version: UInt64
        var changes: UInt64
    }

    init(core: RealmCore, query: ObjectQuery) {
        self.core = core
        self.query = query
    }

    private func update() {
        core.confinement.check()
        let changes = query.followsLinks ? core.changes.reduce(0, &+) : core.changes[query.classIndex]
        let current = Stamp(version: core.version, changes: changes)
        guard stamp != current else { return }
        stamp = current
        knownKeys = nil
        knownCount = nil
        page = []
    }

    var keys: [Value] {
        update()
        if let knownKeys { return knownKeys }
        let keys = core.keys(query)
        knownKeys = keys
        return keys
    }

    var count: Int {
        update()
        if let count = knownKeys?.count ?? knownCount { return count }
        let count = core.count(query)
        knownCount = count
        return count
    }

    var first: Object? {
        update()
        if let knownKeys { return knownKeys.isEmpty ? nil : object(at: 0) }
        guard let key = core.keys(query, limit: 1).first else { return nil }
        return core.find(ObjectReference(classIndex: query.classIndex, key: key))?.managedObject()
    }

    func object(at position: Int) -> Object {
        let keys = keys
        guard keys.indices.contains(position) else {
            programError("Index \(position) is out of range: the results have \(keys.count) elements.")
        }
        if !(pageStart..<(pageStart + page.count)).contains(position) {
            pageStart = position - position % Self.pageSize
            page = rows(keys[pageStart..<min(keys.count, pageStart + Self.pageSize)])
        }
        return page[position - pageStart].managedObject()
    }

    /// The rows of several keys, fetched.
    func rows(_ keys: ArraySlice<Value>) -> [ManagedRow] {
        let rows = keys.map { core.row(ObjectReference(classIndex: query.classIndex, key: $0)) }
        core.fetch(rows)
        return rows
    }
}
