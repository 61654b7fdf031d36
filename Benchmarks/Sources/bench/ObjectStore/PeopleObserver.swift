import Dispatch
import Tombolo
import TomboloModel

/// Listens to people, filtered and sorted, on a queue of its own.
final class PeopleObserver: @unchecked Sendable {
    /// One call of the listener.
    struct Call: Sendable {
        var nanoseconds: Int64
        /// Nil for the first one.
        var changeCount: Int?
        var count: Int
    }

    /// The younger ones are not listened to.
    static let leastAge = 5

    /// Guards the token, which is the Realm's.
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
                    // An object that moved is deleted at one place and inserted at another.
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
