import Dispatch
import Tombolo
import TomboloModel

/// Observes people, filtered and sorted, on its own queue.
final class PeopleObserver: @unchecked Sendable {
    /// One call of the observer.
    struct Call: Sendable {
        var nanoseconds: Int64
        /// Nil for the first call.
        var changeCount: Int?
        var count: Int
    }

    /// Younger people aren't observed.
    static let leastAge = 5

    /// Guards the token, which belongs to the Realm.
    private let queue = DispatchQueue(label: "observer")
    private var token: NotificationToken?

    /// - Parameter onCall: called on the queue.
    init(path: String, onCall: @escaping @Sendable (Call) -> Void) throws {
        try queue.sync {
            let realm = try Realm(configuration: TomboloPeople.configuration(path), queue: queue)
            let leastAge = Self.leastAge
            let people = realm.objects(StorePerson.self).where { $0.age >= leastAge }.sorted(byKeyPath: "score")
            token = people.observe { (change: RealmCollectionChange<Results<StorePerson>>) in
                let now = Monotonic.nanoseconds
                switch change {
                case .initial(let people): onCall(Call(nanoseconds: now, changeCount: nil, count: people.count))
                case .update(let people, let deletions, let insertions, let modifications):
                    // An object that moved is deleted at one index and inserted at another.
                    let changes = max(deletions.count, insertions.count) + modifications.count
                    onCall(Call(nanoseconds: now, changeCount: changes, count: people.count))
                case .error: break
                }
            }
        }
    }

    func stop() {
        queue.sync {
            token?.invalidate()
            token = nil
        }
    }
}
