/// Types whose values belong to a Realm and may be used only where that Realm may be used: objects, results and lists.
public protocol ThreadConfined {
    /// The Realm that it belongs to, or nil while unmanaged.
    var realm: Realm? { get }
    /// Whether it can no longer be used, because it was deleted or its Realm was invalidated.
    var isInvalidated: Bool { get }
    /// Its place in other Realms of the file; nil while unmanaged. For the library only.
    var _confinedPlace: ConfinedPlace? { get }
    /// The same thing in another Realm of the file, or nil if it doesn't exist there. For the library only.
    static func _find(_ place: ConfinedPlace, in realm: Realm) -> Self?
}

extension ThreadConfined {
    /// Whether it shows one version forever and may be used on any thread.
    public var isFrozen: Bool { realm?.isFrozen ?? false }

    /// A copy that never changes and may be used on any thread. It pins a version of the file, which grows meanwhile,
    /// so release it soon. Stops the program for unmanaged, deleted and invalidated things.
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

    /// The live one, in a Realm of the calling thread, or nil if it has been deleted since.
    public func thaw() -> Self? {
        guard let realm, let place = _confinedPlace else {
            programError("Unmanaged objects cannot be thawed: they are not frozen.")
        }
        return realm.isFrozen ? Self._find(place, in: realm.thaw()) : self
    }
}
