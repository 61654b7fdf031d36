import Dispatch
import Tombolo
import TomboloModel

/// Changes people's places in the sorted order, through a Realm on its own queue.
final class PeopleWriter: @unchecked Sendable {
    /// Guards the Realm, which belongs to this queue.
    private let queue = DispatchQueue(label: "writer")
    private let realm: Realm
    /// The keys of observed people.
    private let keys: [Int]
    private var random: SplitMix

    /// - Parameter seed: writers with different seeds change different people.
    init(path: String, objects: Int, seed: UInt64) throws {
        let queue = queue
        realm = try queue.sync { try Realm(configuration: TomboloPeople.configuration(path), queue: queue) }
        keys = (0..<objects).filter { PersonValues($0).age >= PeopleObserver.leastAge }
        random = SplitMix(state: seed)
    }

    /// Changes the scores of some people in a transaction.
    /// - Returns: when the transaction had ended.
    func change(_ count: Int) throws -> Int64 {
        try queue.sync {
            let changed = keys.shuffled(using: &random).prefix(count)
            try realm.write {
                for key in changed {
                    realm.object(ofType: StorePerson.self, forPrimaryKey: key)?.score =
                        Double.random(in: 0..<1_000, using: &random)
                }
            }
            return Monotonic.nanoseconds
        }
    }
}
