internal import Synchronization
internal import TomboloSQLiteStore

/// Carries an object, list or results to another thread, where ``Realm/resolve(_:)`` returns the live instance.
///
///     let reference = ThreadSafeReference(to: person)
///     queue.async {
///         let realm = try Realm()
///         guard let person = realm.resolve(reference) else { return }  // deleted meanwhile
///     }
///
/// A reference can be resolved once. A reference created in a write transaction finds the object once the transaction
/// is committed.
public final class ThreadSafeReference<Confined: ThreadConfined>: Sendable {
    private let place: ConfinedPlace
    private let path: String
    private let isTaken = Mutex(false)

    /// - Parameter confined: a managed object, list or results. Stops the program if it's unmanaged or invalidated.
    public init(to confined: Confined) {
        guard let realm = confined.realm, let place = confined._confinedPlace else {
            programError("Cannot construct reference to unmanaged object: add it to a Realm first.")
        }
        if confined.isInvalidated { programError("Cannot construct reference to invalidated object.") }
        self.place = place
        path = realm.core.file.path
    }

    /// Whether it has been resolved.
    public var isInvalidated: Bool { isTaken.withLock { $0 } }

    func find(in realm: Realm) -> Confined? {
        guard PathKey(realm.core.file.path) == PathKey(path) else {
            programError("This reference belongs to another file. Resolve it in a Realm of the same file.")
        }
        let isFirst = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        if !isFirst { programError("Can only resolve a thread safe reference once: create another one.") }
        return Confined._find(place, in: realm)
    }
}

extension Realm {
    /// The object, list or results of a reference in the newest version, or nil if it was deleted in the meantime.
    /// Refreshes the Realm unless it's in a write transaction.
    public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
        if !isInWriteTransaction, !isFrozen { refresh() }
        return reference.find(in: self)
    }
}
