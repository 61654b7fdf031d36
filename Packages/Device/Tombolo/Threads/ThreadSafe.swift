internal import Synchronization

/// Wraps an object, list or results for use on several threads. Reading it returns the calling thread's live instance,
/// or nil if it was deleted.
///
///     @ThreadSafe var person = person
///     queue.async { print(person?.name ?? "gone") }
@propertyWrapper
public final class ThreadSafe<Confined: ThreadConfined>: @unchecked Sendable {
    private struct Held: Sendable {
        let place: ConfinedPlace
        let configuration: Realm.Configuration
    }

    /// Guards the held value. Nothing else changes.
    private let held: Mutex<Held?>

    public init(wrappedValue: Confined?) { held = Mutex(Self.held(wrappedValue)) }

    public var wrappedValue: Confined? {
        get {
            guard let held = held.withLock({ $0 }) else { return nil }
            let realm: Realm
            do {
                realm = try Realm(configuration: held.configuration)
            } catch {
                programError("Can't open the Realm of a @ThreadSafe value. \(error)")
            }
            if let found = Confined._find(held.place, in: realm) { return found }
            // The Realm may be at a version from before the value was created.
            if !realm.isInWriteTransaction { realm.refresh() }
            return Confined._find(held.place, in: realm)
        }
        set {
            let next = Self.held(newValue)
            held.withLock { $0 = next }
        }
    }

    private static func held(_ confined: Confined?) -> Held? {
        guard let confined else { return nil }
        guard let realm = confined.realm, let place = confined._confinedPlace else {
            programError("Only managed objects can be wrapped as thread safe: add the object to a Realm first.")
        }
        return Held(place: place, configuration: realm.configuration)
    }
}
