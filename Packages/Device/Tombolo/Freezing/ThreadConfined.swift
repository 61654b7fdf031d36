/// Types whose values belong to a Realm and may be used only where that Realm may be used: objects, results and lists.
public protocol ThreadConfined {
    /// The Realm that the value belongs to, or nil while it's unmanaged.
    var realm: Realm? { get }
    /// Whether the value can no longer be used, because it was deleted or its Realm was invalidated.
    var isInvalidated: Bool { get }
    /// The value's place in other Realms of the file, or nil while it's unmanaged. For the library only.
    var _confinedPlace: ConfinedPlace? { get }
    /// The same value in another Realm of the file, or nil if it doesn't exist there. For the library only.
    static func _find(_ place: ConfinedPlace, in realm: Realm) -> Self?
}

extension ThreadConfined {
    /// Whether the value permanently shows one version and may be used on any thread.
    public var isFrozen: Bool { realm?.isFrozen ?? false }

    /// A copy that never changes and may be used on any thread. It pins a version of the file, and the file grows in
    /// the meantime, so release the copy soon. Stops the program if the value is unmanaged, deleted or invalidated.
    public func freeze() -> Self {
        guard let realm, let place = _confinedPlace else {
            programError("Unmanaged objects cannot be frozen. Add the object to a Realm first.")
        }
        if realm.isFrozen { return self }
        guard let frozen = Self._find(place, in: realm.freeze()) else {
            programError("A deleted or invalidated object cannot be frozen: check isInvalidated first.")
        }
        return frozen
    }

    /// The live instance in a Realm of the calling thread, or nil if it has since been deleted.
    public func thaw() -> Self? {
        guard let realm, let place = _confinedPlace else {
            programError("Unmanaged objects cannot be thawed: they are not frozen.")
        }
        return realm.isFrozen ? Self._find(place, in: realm.thaw()) : self
    }
}
