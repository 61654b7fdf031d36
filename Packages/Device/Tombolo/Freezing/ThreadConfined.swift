/// What belongs to a Realm and is used where that Realm may be used: objects, results and lists.
public protocol ThreadConfined {
    /// The Realm that it belongs to; nil while unmanaged.
    var realm: Realm? { get }
    /// Whether it can no longer be used: deleted, or its Realm invalidated.
    var isInvalidated: Bool { get }
    /// Where it is to be found in another Realm of the file; nil while unmanaged. The store's own.
    var _confinedPlace: ConfinedPlace? { get }
    /// The same thing in another Realm of the file; nil where it is not there. The store's own.
    static func _find(_ place: ConfinedPlace, in realm: Realm) -> Self?
}

extension ThreadConfined {
    /// Whether it shows one version for ever, and may be used on any thread.
    public var isFrozen: Bool { realm?.isFrozen ?? false }

    /// The same as it is now: it never changes, and may be used on any thread. It pins a version of the file, which
    /// grows while that is kept: let go of it soon.
    public func freeze() -> Self {
        guard let realm, let place = _confinedPlace else {
            programError("Unmanaged objects cannot be frozen. Add the object to a Realm first.")
        }
        if realm.isFrozen { return self }
        guard let frozen = Self._find(place, in: realm.freeze()) else {
            programError("A deleted or invalidated object cannot be frozen: ask isInvalidated before.")
        }
        return frozen
    }

    /// The live one, of a Realm of the calling thread; nil where it was deleted meanwhile.
    public func thaw() -> Self? {
        guard let realm, let place = _confinedPlace else {
            programError("Unmanaged objects cannot be thawed: they are not frozen.")
        }
        return realm.isFrozen ? Self._find(place, in: realm.thaw()) : self
    }
}
