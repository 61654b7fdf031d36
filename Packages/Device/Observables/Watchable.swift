public import Tombolo

/// What a view can show, follow and edit: an object, an embedded object or a list, managed or not.
public protocol Watchable: AnyObject, ThreadConfined {
    /// Calls `block` after every commit that changed it, and for a list also once soon. For the library only.
    func _watch(_ keyPaths: [String]?, _ block: @escaping (WatchedChange) -> Void) -> NotificationToken
    /// Whether both are the same thing in the same Realm. For the library only.
    func _isSame(as other: Self) -> Bool
    /// What is shown in place of a deleted one. For the library only.
    static func _placeholder() -> Self
}

/// What the library hears of a watched thing.
public enum WatchedChange: Sendable {
    /// Observation has begun; commits before it are not reported separately.
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
