internal import TomboloModel
internal import TomboloSQL
internal import TomboloSQLiteStore

/// The rows found by a query.
struct QueryRows: ObservedRows {
    private let core: RealmCore
    private let query: ObjectQuery
    /// The row's own columns that decide whether it belongs to the results, and where.
    private var columns = ColumnSet()
    /// Paths through other objects that also decide this.
    private var paths: [WatchedPath] = []
    /// Whether a deciding factor can't be traced back to rows.
    private var isOpaque = false

    /// From this fraction of the results upwards, querying single rows takes longer than running the whole query.
    private static let largestPart = 16
    private static let smallestLimit = 1_024

    init(_ core: RealmCore, _ query: ObjectQuery) {
        self.core = core
        self.query = query
        let filter = query.predicate.watchedPaths
        isOpaque = filter == nil || !query.isByRow
        for names in (filter ?? []) + query.sorts.map(\.path.names) {
            guard let watched = WatchedPath(names, from: query.classIndex, core.layout), !watched.needsMemory,
                // A link counts as nil until its object is on the device.
                !core.file.isSynced || !watched.endsInLink(core.schema)
            else {
                isOpaque = true
                continue
            }
            columns.formUnion(watched.steps[0].properties)
            if watched.steps.count > 1 { paths.append(watched) }
        }
    }

    private var isByRowID: Bool { query.sorts.isEmpty }

    func all() -> [Int64]? { core.rowids(query) }

    func isGone(after changes: ChangeSet) -> Bool { false }

    func touched(by changes: ChangeSet) -> RowIDSet? {
        let own = changes[query.classIndex]
        if own.isEverything { return nil }
        if !query.isByRow { return nil }
        if isOpaque {
            let classes = try? query.predicate.classes(
                lookedAtFrom: core.schema[query.classIndex].name, in: core.schema)
            let isConcerned =
                changes.classes.keys.contains { classes?.contains($0) ?? true }
                || query.sorts.contains { $0.path.names.count > 1 }
            return isConcerned ? nil : []
        }
        var result = own.inserted.union(own.deleted)
        if !columns.isEmpty {
            result.formUnion(own.modified.rowIDs { !$0.isDisjoint(with: columns) })
        }
        for path in paths {
            guard let rows = path.affected(by: changes, core) else { return nil }
            result.formUnion(rows)
        }
        return result
    }

    func replaced(by changes: ChangeSet) -> RowIDSet {
        let own = changes[query.classIndex]
        return own.inserted.intersection(own.deleted)
    }

    func isLarge(_ touched: Int, of count: Int) -> Bool {
        !isByRowID && touched > max(Self.smallestLimit, count / Self.largestPart)
    }

    func matching(_ rows: RowIDSet) -> [Int64] { rows.isEmpty ? [] : core.rowIDs(query, among: rows) }

    func order() -> RowOrder {
        if isByRowID { return RowOrder { $0 < $1 } }
        let keys = core.sortKeys(query)
        return RowOrder { keys.precedes($0, $1) }
    }

    func modified(by changes: ChangeSet, _ scope: ChangeScope) -> RowFilter? {
        scope.rows(of: query.classIndex, changedBy: changes, core).map { RowFilter($0) }
    }
}
