import TomboloModel

@testable import Tombolo

/// Records a collection's notifications and maintains a copy of the collection from them.
final class ChangeLogbook<Collection: RandomAccessCollection> where Collection.Index == Int {
    private(set) var entries: [String] = []
    /// The copy.
    private(set) var mirror: [String] = []
    private(set) var modifications: [Int] = []
    private let describe: (Collection.Element) -> String

    init(_ describe: @escaping (Collection.Element) -> String) { self.describe = describe }

    func note(_ change: RealmCollectionChange<Collection>) {
        switch change {
        case .initial(let collection):
            entries.append("initial \(collection.count)")
            mirror = collection.map(describe)
            modifications = []
        case .update(let collection, let deletions, let insertions, let modifications):
            entries.append("-\(deletions) +\(insertions) ~\(modifications)")
            for position in deletions.reversed() { mirror.remove(at: position) }
            for position in insertions { mirror.insert(describe(collection[position]), at: position) }
            self.modifications = modifications
        case .error(let error): entries.append("\(error)")
        }
    }

    /// The notifications since the last call.
    func take() -> [String] {
        defer { entries = [] }
        return entries
    }
}
