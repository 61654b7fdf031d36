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
                guard let path = WatchedPath(names, from: classIndex, core.layout) else {
                    programError(Self.notAKeyPath(names, core.schema[classIndex].name))
                }
                return path
            })
    }

    static func notAKeyPath(_ names: [String], _ className: String) -> String {
        "'\(names.joined(separator: "."))' is no key path of \(className): name its properties, and behind links, lists "
            + "and embedded objects theirs, joined by dots."
    }

    /// The next changes start from the present version.
    func begin(_ core: RealmCore) {
        if case .paths(let paths) = self { for path in paths { path.begin(core) } }
    }

    /// The rows of a class that have changed in this sense; nil where all may have. Call it once for every change, in
    /// their order.
    func rows(of classIndex: Int, changedBy changes: ChangeSet, _ core: RealmCore) -> RowIDSet? {
        switch self {
        case .deep: return core.links.rows(of: classIndex, reaching: changes, within: Self.depth, core)
        case .paths(let paths):
            var result: RowIDSet? = RowIDSet()
            for path in paths {
                if let rows = path.affected(by: changes, core) { result?.formUnion(rows) } else { result = nil }
            }
            return result
        }
    }
}
