internal import TomboloModel
internal import TomboloSQLiteStore

/// The changes of objects that an observer is interested in.
enum ChangeScope {
    /// Changes of the objects, and of objects up to four links away.
    case deep
    /// Changes of these properties, across any number of links.
    case paths([WatchedPath])

    /// How many links Realm follows.
    static let depth = 4

    /// Nil for an empty list of key paths.
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
        "'\(names.joined(separator: "."))' isn't a key path of \(className): join property names with dots, following "
            + "links, lists and embedded objects."
    }

    /// Makes the current version the starting point of the next changes.
    func begin(_ core: RealmCore) {
        if case .paths(let paths) = self { for path in paths { path.begin(core) } }
    }

    /// The rows of a class that have changed within this scope, or nil if all may have. Call this once per change, in
    /// order.
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
