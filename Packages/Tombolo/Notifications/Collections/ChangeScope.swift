internal import TomboloModel
internal import TomboloSQLiteStore

/// Which changes of objects an observer of theirs wants to hear of.
enum ChangeScope {
    /// Of the objects, and of those that up to four links lead to.
    case deep
    /// Of these properties, behind however many links.
    case paths([WatchedPath])

    /// Realm's depth.
    static let depth = 4

    /// Nil for no key paths at all.
    init(_ keyPaths: [[String]]?, of classIndex: Int, _ core: RealmCore) {
        guard let keyPaths else {
            self = .deep
            return
        }
        self = .paths(
            keyPaths.map { names in
                guard let path = WatchedPath(names, from: classIndex, core.schema, core.links) else {
                    programError(
                        "'\(names.joined(separator: "."))' is no key path of \(core.schema[classIndex].name): name its "
                            + "properties, and behind links theirs, joined by dots.")
                }
                return path
            })
    }

    /// The rows of a class that have changed in this sense; nil where all may have.
    func rows(of classIndex: Int, changedBy changes: ChangeSet, _ core: RealmCore) -> RowIDSet? {
        switch self {
        case .deep: return core.links.rows(of: classIndex, reaching: changes, within: Self.depth, core)
        case .paths(let paths):
            var result = RowIDSet()
            for path in paths {
                guard let rows = path.affected(by: changes, core) else { return nil }
                result.formUnion(rows)
            }
            return result
        }
    }
}
