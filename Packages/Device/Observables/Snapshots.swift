import Tombolo

/// Frozen copies for rendering.
@MainActor
enum Snapshots {
    private static var depth = 0

    /// A frozen copy of a managed live value, or nil if the value no longer exists. In a write transaction nothing can
    /// be frozen, so the live value is returned.
    static func freeze<Confined: ThreadConfined>(_ live: Confined) -> Confined? {
        guard let realm = live.realm, !live.isInvalidated, let place = live._confinedPlace else { return nil }
        if realm.isFrozen || realm.isInWriteTransaction { return live }
        // Freezing may move the Realm to a newer version, where the value is gone.
        return Confined._find(place, in: newest(realm))
    }

    /// A frozen copy of a Realm that isn't in a write transaction.
    static func newest(_ realm: Realm) -> Realm {
        depth += 1
        defer { depth -= 1 }
        return realm.freeze()
    }

    /// Tells a view of a change. Usually at once; but if the change was found while freezing, which happens while views
    /// are rendered, the view is told soon afterwards.
    static func tell(_ block: @escaping @MainActor () -> Void) {
        if depth == 0 { block() } else { Task { block() } }
    }
}

/// The newest version of a Realm at some time.
@MainActor
struct VersionMark {
    private let frozen: Realm?

    init(_ realm: Realm?) { frozen = Self.newest(realm) }

    /// Whether the Realm has moved on since.
    func isOutdated(_ realm: Realm?) -> Bool { frozen != Self.newest(realm) }

    private static func newest(_ realm: Realm?) -> Realm? {
        guard let realm, !realm.isInWriteTransaction else { return nil }
        return Snapshots.newest(realm)
    }
}
