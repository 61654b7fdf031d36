public import Tombolo

/// What a view can show, follow and edit: an object, an embedded object or a list, managed or unmanaged.
public protocol Watchable: AnyObject, ThreadConfined {
    /// Calls `block` after every commit that changed the value. For a list, also calls it once soon. For the library
    /// only.
    func _watch(_ keyPaths: [String]?, _ block: @escaping (WatchedChange) -> Void) -> NotificationToken
    /// Whether both are the same value in the same Realm. For the library only.
    func _isSame(as other: Self) -> Bool
    /// What is shown in place of a deleted value. For the library only.
    static func _placeholder() -> Self
}

/// What the library is told about a watched value.
public enum WatchedChange: Sendable {
    /// Observation has begun. Commits before it aren't reported separately.
    case began
    case changed
}

extension ObjectBase: Watchable {
    public func _watch(_ keyPaths: [String]?, _ block: @escaping (WatchedChange) -> Void) -> NotificationToken {
        (self as ObjectBase).observe(keyPaths: keyPaths) { (_: ObjectChange<ObjectBase>) in block(.changed) }
    }

    public func _isSame(as other: ObjectBase) -> Bool { isSameObject(as: other) }

    public static func _placeholder() -> Self { Self() }
}

extension List: Watchable {
    public func _watch(_ keyPaths: [String]?, _ block: @escaping (WatchedChange) -> Void) -> NotificationToken {
        observe(keyPaths: keyPaths) { (change: RealmCollectionChange<List<Element>>) in
            if case .initial = change { block(.began) } else { block(.changed) }
        }
    }

    public func _isSame(as other: List<Element>) -> Bool {
        self === other || (realm != nil && other.realm != nil && self == other)
    }

    public static func _placeholder() -> List<Element> { List() }
}
