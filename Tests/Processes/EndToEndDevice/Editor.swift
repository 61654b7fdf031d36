import EventModels
import ListingModels
import RandomValues
import Tombolo

/// Makes random transactions, reproducible from a seed.
@MainActor
final class Editor {
    private var generator: SeededGenerator
    private let counters: [ObjectId]

    init(seed: UInt64, counters: [ObjectId]) {
        generator = SeededGenerator(seed: seed)
        self.counters = counters
    }

    func pauseMilliseconds() -> Int { Int.random(in: 0..<12, using: &generator) }

    /// - Returns: the id of the listing that the transaction made.
    func edit(_ realm: Realm) throws -> String {
        let id = ObjectId.generate()
        try realm.write {
            let made: [String: Any] = [
                "_id": id, "location": "made by \(counters[0])", "price": 1, "bedrooms": 1,
            ]
            realm.create(Listing.self, value: made)
            for counter in counters {
                realm.object(ofType: Listing.self, forPrimaryKey: counter)?.increment(\.price, by: 1)
            }
            editSharedRows(realm)
        }
        return id.stringValue
    }

    private func editSharedRows(_ realm: Realm) {
        let shared = Array(realm.objects(Listing.self).where { $0.location == "shared" })
        if let listing = shared.randomElement(using: &generator) {
            listing.bedrooms = Int.random(in: 0..<1_000, using: &generator)
        }
        guard let session = Array(realm.objects(Session.self)).randomElement(using: &generator) else { return }
        let speakers = session.speakers
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: session.title = "Title \(Int.random(in: 0..<1_000, using: &generator))"
        case 1:
            if let speaker = Array(realm.objects(Speaker.self)).randomElement(using: &generator) {
                speakers.append(speaker)
            }
        case 2 where speakers.count > 2: speakers.remove(at: Int.random(in: 0..<speakers.count, using: &generator))
        case 3 where speakers.count > 1:
            let first = speakers[0]
            speakers.remove(at: 0)
            speakers.append(first)
        default: break
        }
    }
}
