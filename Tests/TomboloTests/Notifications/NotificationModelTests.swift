import Foundation
import RandomValues
import Testing
import TomboloModel

@testable import Tombolo

/// Random writes through two Realms of one file; listeners maintain copies from their notifications.
@Suite("Notifications of random writes")
struct NotificationModelTests {
    private static func configuration(_ name: String) -> Realm.Configuration {
        Realm.Configuration(inMemoryIdentifier: name, objectTypes: [Session.self, Speaker.self, Room.self])
    }

    /// A session's content up to four links away, to find out which sessions have changed.
    private static func image(_ session: Session) -> String {
        func shallow(_ session: Session) -> String {
            "\(session._id) \(session.title) \(session.price) \(session.rating ?? -1) \(session.isOpen) "
                + "\(session.room.map { "\($0._id) \($0.name)" } ?? "-")"
        }
        return shallow(session) + session.speakers.map { "\($0._id) \($0.name)" }.joined(separator: ",")
    }

    private struct Write {
        let realm: Realm
        var random: RandomValues
        private var next = 1_000

        init(_ realm: Realm, _ random: RandomValues) {
            self.realm = realm
            self.random = random
        }

        /// Includes changes that are visible only in the image or in the order.
        mutating func step() {
            let sessions = Array(realm.objects(Session.self))
            let speakers = Array(realm.objects(Speaker.self))
            let rooms = Array(realm.objects(Room.self))
            let kind = random.int(0...9)
            guard !sessions.isEmpty, kind > 1 else {
                next += 1
                let id = Int.random(in: 1...1_000_000, using: &random.generator) * 10 + (next % 10)
                guard realm.object(ofType: Session.self, forPrimaryKey: id) == nil else { return }
                let session = Session(id, "S\(random.int(0...5))", price: random.int(0...20))
                session.isOpen = random.flag()
                session.rating = random.flag() ? nil : Double(random.int(0...3))
                if !rooms.isEmpty, random.flag() { session.room = random.pick(rooms) }
                realm.add(session)
                return
            }
            let session = random.pick(sessions)
            switch kind {
            case 2: realm.delete(session)
            case 3: session.price = random.int(0...20)
            case 4: session.isOpen.toggle()
            case 5: session.rating = random.flag() ? nil : Double(random.int(0...3))
            case 6: session.room = rooms.isEmpty || random.flag(3) ? nil : random.pick(rooms)
            case 7:
                if rooms.isEmpty || random.flag(5) {
                    realm.create(Room.self, value: ["name": "R\(random.int(0...4))"])
                } else if random.flag(6) {
                    realm.delete(random.pick(rooms))
                } else {
                    random.pick(rooms).name = "R\(random.int(0...4))"
                }
            case 8:
                if speakers.count < 3 || random.flag(6) {
                    realm.create(Speaker.self, value: ["_id": "speaker\(random.int(0...1_000_000_000))", "name": "N"])
                } else if random.flag(8) {
                    realm.delete(random.pick(speakers))
                } else {
                    random.pick(speakers).name = "N\(random.int(0...4))"
                }
            default:
                if session.speakers.isEmpty || random.flag(), !speakers.isEmpty {
                    session.speakers.insert(random.pick(speakers), at: random.int(0...session.speakers.count))
                } else if !session.speakers.isEmpty {
                    session.speakers.remove(at: random.int(0...session.speakers.count - 1))
                }
            }
        }
    }

    /// Checks one observed collection against itself after every delivery.
    private final class Watcher {
        let results: Results<Session>
        private(set) var mirror: [String] = []
        private(set) var problems: [String] = []
        private var token: NotificationToken?

        init(_ results: Results<Session>) {
            self.results = results
            token = results.observe { [unowned self] in note($0) }
        }

        private func note(_ change: RealmCollectionChange<Results<Session>>) {
            switch change {
            case .initial(let results): mirror = results.map(NotificationModelTests.image)
            case .update(let results, let deletions, let insertions, let modifications):
                let images: [String] = results.map(NotificationModelTests.image)
                let old = mirror
                var copy: [(image: String, old: Int?)] = old.enumerated().map { ($1, $0) }
                for position in deletions.reversed() { copy.remove(at: position) }
                for position in insertions {
                    guard position <= copy.count, position < images.count else {
                        problems.append("\(insertions) into \(copy.count) for \(images.count)")
                        return
                    }
                    copy.insert((images[position], nil), at: position)
                }
                guard copy.count == images.count else {
                    problems.append("\(copy.count) instead of \(images.count)")
                    return
                }
                // Rows that stayed but look different must be modified; modified rows may look the same.
                let modified = Set(modifications)
                for (entry, image) in zip(copy, images) {
                    guard let position = entry.old else { continue }
                    if entry.image.prefix(while: { $0 != " " }) != image.prefix(while: { $0 != " " }) {
                        problems.append("\(entry.image) became \(image)")
                    }
                    if entry.image != image, !modified.contains(position) {
                        problems.append("\(entry.image) → \(image) is not told")
                    }
                }
                if modifications != modified.sorted() || !modified.isDisjoint(with: deletions) {
                    problems.append("~\(modifications) -\(deletions)")
                }
                mirror = images
            case .error(let error): problems.append("\(error)")
            }
        }

        func check() -> [String] {
            let images: [String] = results.map(NotificationModelTests.image)
            if images != mirror { problems.append("The copy is \(mirror), the collection \(images).") }
            return problems
        }
    }

    @Test("Copies maintained from notifications equal the collections", arguments: 0..<8)
    func mirrors(round: Int) throws {
        var random = RandomValues(.printed(for: "notifications \(round)"))
        let realms = try (0..<2).map { _ in try Realm.fresh(Self.configuration("mirrors \(round)")) }
        var writers = realms.map { Write($0, RandomValues(SeededGenerator(seed: random.generator.next()))) }
        try realms[0].write { for _ in 0..<60 { writers[0].step() } }
        realms[1].refresh()
        let watchers = realms.flatMap { realm -> [Watcher] in
            let all = realm.objects(Session.self)
            return [
                all, all.where { $0.isOpen }, all.sorted(byKeyPath: "price"),
                all.where { $0.price < 12 }.sorted(by: [
                    SortDescriptor(keyPath: "rating", ascending: false), SortDescriptor(keyPath: "title"),
                ]),
                all.where { $0.room.name != "R1" }.sorted(byKeyPath: "room.name", ascending: false),
            ].map { Watcher($0) }
        }
        for realm in realms { realm.refresh() }
        for _ in 0..<60 {
            let index = random.int(0...1)
            try realms[index].write {
                for _ in 0..<random.int(1...random.pick([1, 3, 40])) { writers[index].step() }
                if random.flag(10) { realms[index].delete(realms[index].objects(Session.self).where { $0.price > 17 }) }
            }
            if random.flag() { continue }
            for realm in realms { realm.refresh() }
            let problems = watchers.flatMap { $0.check() }
            guard problems.isEmpty else {
                Issue.record("\(problems)")
                return
            }
        }
    }

    @Test("Exactly the written rows are reported as modified", arguments: 0..<4)
    func exactModifications(round: Int) throws {
        var random = RandomValues(.printed(for: "modifications \(round)"))
        let configuration = Self.configuration("modifications \(round)")
        let (realm, other) = (try Realm.fresh(configuration), try Realm.fresh(configuration))
        try other.write { for id in 1...200 { other.add(Session(id, "S", price: random.int(0...50))) } }
        realm.refresh()
        let results = realm.objects(Session.self).where { $0.price < 40 }.sorted(byKeyPath: "price")
        var told: [Int] = []
        let token = results.observe { change in
            if case .update(_, _, _, let modifications) = change { told = modifications }
        }
        realm.refresh()
        for _ in 0..<50 {
            let old = results.map(\._id)
            let written = Set((0..<random.int(1...20)).map { _ in random.int(1...200) })
            told = []
            try other.write {
                for id in written { other.object(ofType: Session.self, forPrimaryKey: id)?.title += "x" }
            }
            realm.refresh()
            #expect(told == old.indices.filter { written.contains(old[$0]) })
        }
        token.invalidate()
    }
}
