import Foundation
import RandomValues
import Testing
import TomboloModel

@testable import Tombolo

/// Random writes to objects with embedded objects, lists of all kinds and LinkingObjects, through two Realms of one file.
@Suite("Notifications of random writes to nested objects")
struct PersonNotificationModelTests {
    /// Every written value is new.
    private struct Write {
        let realm: Realm
        var random: RandomValues
        var next: Int
        /// Whether it rewrites more than it changes.
        private(set) var isCoarse = false

        init(_ realm: Realm, _ random: RandomValues, first: Int) {
            self.realm = realm
            self.random = random
            next = first
        }

        private mutating func fresh() -> Int {
            next += 1
            return next
        }

        mutating func address() -> Address {
            let address = Address("street \(fresh())", "city \(fresh())")
            address.codes.append(objectsIn: (0..<random.int(0...4)).map { _ in fresh() })
            if random.flag() { address.spot = Spot(value: ["x": Double(fresh())]) }
            if random.flag() { address.rooms.append(RoomInfo(value: ["name": "room", "size": fresh()])) }
            return address
        }

        mutating func person(_ id: Int) -> Person {
            let person = Person(id, "name \(fresh())")
            if id < 10 || random.flag() { person.home = address() }
            for _ in 0..<random.int(0...3) { person.others.append(address()) }
            return person
        }

        mutating func step() {
            isCoarse = false
            let persons = Array(realm.objects(Person.self))
            let dogs = Array(realm.objects(Dog.self))
            let person = random.pick(persons)
            switch random.int(0...19) {
            case 0: realm.add(self.person(fresh()))
            case 1: if person._id >= 10 { realm.delete(person) }
            case 2: realm.add(Dog("dog \(fresh())"))
            case 3: if dogs.count > 3, random.flag(3) { realm.delete(random.pick(Array(dogs.dropFirst(2)))) }
            case 4: person.name = "name \(fresh())"
            case 5: random.pick(dogs).name = "dog \(fresh())"
            case 6:
                let others = dogs.filter { $0 != person.best }
                person.best = person.best != nil && random.flag(3) ? nil : random.pick(others)
            case 7, 8: Self.change(person.dogs, dogs, &random)
            case 9:
                if person._id >= 10 {
                    isCoarse = true
                    person.home = random.flag(3) ? nil : address()
                }
            case 10: person.home?.city = "city \(fresh())"
            case 11:
                if person.home?.spot == nil {
                    isCoarse = true
                    person.home?.spot = Spot(value: ["x": Double(fresh())])
                } else {
                    person.home?.spot?.x = Double(fresh())
                }
            case 12, 13: codes(of: person)
            case 14: if let home = person.home { Self.change(home.visitors, dogs, &random) }
            default: others(of: person, dogs)
            }
        }

        private mutating func codes(of person: Person) {
            guard let codes = person.home?.codes else { return }
            switch random.int(0...3) {
            case 0: codes.insert(fresh(), at: random.int(0...codes.count))
            case 1: if !codes.isEmpty { codes[random.int(0...codes.count - 1)] = fresh() }
            case 2: if !codes.isEmpty { codes.remove(at: random.int(0...codes.count - 1)) }
            default:
                if codes.count > 1 { codes.move(from: 0, to: codes.count - 1) } else { codes.append(fresh()) }
            }
        }

        private mutating func others(of person: Person, _ dogs: [Dog]) {
            let others = person.others
            guard !others.isEmpty, !random.flag(6) else {
                return others.insert(address(), at: random.int(0...others.count))
            }
            let position = random.int(0...others.count - 1)
            let other = others[position]
            switch random.int(0...6) {
            case 0: others.remove(at: position)
            case 1: others[position] = address()
            case 2: others.move(from: position, to: random.int(0...others.count - 1))
            case 3: other.city = "city \(fresh())"
            case 4: Self.change(other.visitors, dogs, &random)
            case 5:
                if other.rooms.isEmpty || random.flag(3) {
                    other.rooms.append(RoomInfo(value: ["name": "room", "size": fresh()]))
                } else if random.flag(3) {
                    other.rooms.remove(at: 0)
                } else {
                    other.rooms[0].size = fresh()
                }
            default: if other.spot != nil { other.spot?.x = Double(fresh()) }
            }
        }

        private static func change(_ list: List<Dog>, _ dogs: [Dog], _ random: inout RandomValues) {
            if list.isEmpty || random.flag() {
                list.insert(random.pick(dogs), at: random.int(0...list.count))
            } else {
                list.remove(at: random.int(0...list.count - 1))
            }
        }
    }

    private static func row(_ object: ObjectBase) -> Int64 {
        switch object.accessor {
        case let row as ManagedRow: row.rowid
        case let part as EmbeddedAccessor: part.place.host.rowid
        default: 0
        }
    }

    // MARK: Key paths

    private protocol Checking {
        func check(isCoarse: Bool) -> [String]
    }

    /// Checks that an object is reported as modified exactly when its key path leads to something else.
    private final class PathWatcher<T: Object>: Checking {
        private let results: Results<T>
        private let path: String
        private let image: (T) -> String
        private var old: [(row: Int64, image: String)] = []
        private var told: Set<Int> = []
        private var token: NotificationToken?

        init(_ realm: Realm, _ path: String, _ image: @escaping (T) -> String) {
            results = realm.objects(T.self)
            self.path = path
            self.image = image
            token = results.observe(keyPaths: [path]) { [unowned self] change in
                if case .update(_, _, _, let modifications) = change { told = Set(modifications) }
            }
            old = images
        }

        private var images: [(row: Int64, image: String)] {
            results.map { (PersonNotificationModelTests.row($0), image($0)) }
        }

        func check(isCoarse: Bool) -> [String] {
            let new = images
            defer {
                old = new
                told = []
            }
            let present = Dictionary(uniqueKeysWithValues: new.map { ($0.row, $0.image) })
            return old.enumerated().compactMap { position, entry in
                guard let image = present[entry.row] else { return nil }
                let isTold = told.contains(position)
                if image != entry.image, !isTold { return "\(path): \(entry.image) → \(image) is not told" }
                return image == entry.image && isTold && !isCoarse ? "\(path): \(image) is told for nothing" : nil
            }
        }
    }

    private func pathWatchers(_ realm: Realm) -> [any Checking] {
        func person(_ path: String, _ image: @escaping (Person) -> String) -> any Checking {
            PathWatcher(realm, path, image)
        }
        func dog(_ path: String, _ image: @escaping (Dog) -> String) -> any Checking { PathWatcher(realm, path, image) }
        let text = { (values: [String]) in values.joined(separator: ",") }
        return [
            person("name") { $0.name },
            person("home.city") { $0.home?.city ?? "-" },
            person("home.spot.x") { $0.home?.spot.map { "\($0.x)" } ?? "-" },
            person("home.codes") { "\($0.home.map { Array($0.codes) } ?? [])" },
            person("home.visitors.name") { text($0.home?.visitors.map(\.name) ?? []) },
            person("others") { text($0.others.map(\.street)) },
            person("others.city") { text($0.others.map(\.city)) },
            person("others.spot.x") { text($0.others.map { "\($0.street) \($0.spot?.x ?? 0)" }) },
            person("others.rooms.size") {
                text($0.others.map { "\($0.street) \(Array($0.rooms.map { "\(Self.row($0)) \($0.size)" }))" })
            },
            person("others.visitors.name") { text($0.others.map { "\($0.street) \(Array($0.visitors.map(\.name)))" }) },
            person("dogs.name") { text($0.dogs.map(\.name)) },
            person("best.name") { $0.best.map { "\(Self.row($0)) \($0.name)" } ?? "-" },
            person("best.owners.name") {
                $0.best.map { "\(Self.row($0)) \(Array($0.owners.map(\.name)))" } ?? "-"
            },
            dog("owners") { "\(Array($0.owners.map(\._id)))" },
            dog("owners.name") { "\(Array($0.owners.map(\.name)))" },
            dog("admirers.home.city") { "\(Array($0.admirers.map { "\($0._id) \($0.home?.city ?? "-")" }))" },
            dog("admirers.others.city") { "\(Array($0.admirers.map { "\($0._id) \(Array($0.others.map(\.city)))" }))" },
        ]
    }

    @Test("Key paths report exactly the objects whose view changed", arguments: 0..<2)
    func keyPaths(round: Int) throws {
        try run("paths \(round)", steps: 150) { pathWatchers($0) }
    }

    // MARK: Collections

    /// Maintains a copy of a collection from notifications.
    private final class Mirror<Collection: RealmCollection>: Checking {
        private let name: String
        private let collection: Collection
        private let image: (Collection.Element) -> String
        private let identity: (Collection.Element) -> Int64
        private var copy: [(id: Int64, image: String)] = []
        private var problems: [String] = []
        private var token: NotificationToken?

        init(
            _ name: String, _ collection: Collection, image: @escaping (Collection.Element) -> String,
            identity: @escaping (Collection.Element) -> Int64 = { _ in 0 },
            observe: (@escaping (RealmCollectionChange<Collection>) -> Void) -> NotificationToken
        ) {
            self.name = name
            self.collection = collection
            self.image = image
            self.identity = identity
            token = observe { [unowned self] in note($0) }
        }

        private var present: [(id: Int64, image: String)] { collection.map { (identity($0), image($0)) } }

        private func note(_ change: RealmCollectionChange<Collection>) {
            switch change {
            case .initial: copy = present
            case .error(let error): problems.append("\(error)")
            case .update(_, let deletions, let insertions, let modifications):
                let new = present
                let modified = Set(modifications)
                if modifications != modified.sorted() || !modified.isDisjoint(with: deletions) {
                    problems.append("\(name): ~\(modifications) -\(deletions)")
                }
                var entries = copy.enumerated().map { (old: Optional($0), id: $1.id, image: $1.image) }
                for position in deletions.reversed() { entries.remove(at: position) }
                for position in insertions {
                    guard position <= entries.count, position < new.count else {
                        return problems.append("\(name): \(insertions) into \(entries.count) for \(new.count)")
                    }
                    entries.insert((nil, new[position].id, new[position].image), at: position)
                }
                guard entries.map(\.id) == new.map(\.id) else {
                    return problems.append("\(name): \(entries.map(\.id)), not \(new.map(\.id))")
                }
                for (entry, now) in zip(entries, new) where entry.image != now.image {
                    guard let old = entry.old, modified.contains(old) else {
                        problems.append("\(name): \(entry.image) → \(now.image) is not told")
                        continue
                    }
                }
                copy = new
            }
        }

        func check(isCoarse: Bool) -> [String] {
            let present = present
            if present.map(\.image) != copy.map(\.image) {
                problems.append("\(name): the copy is \(copy.map(\.image)), the collection \(present.map(\.image))")
            }
            return problems
        }
    }

    private func mirrors(_ realm: Realm) -> [any Checking] {
        func person(_ person: Person) -> String {
            "\(person._id) \(person.name) \(person.home?.city ?? "-") \(Array(person.dogs.map(\.name))) "
                + "\(person.best?.name ?? "-")"
        }
        func address(_ address: Address) -> String {
            "\(address.street) \(address.city) \(address.spot?.x ?? 0) \(Array(address.rooms.map(\.size))) "
                + "\(Array(address.visitors.map(\.name)))"
        }
        let kept = realm.objects(Person.self).where { $0._id < 10 }
        return kept.flatMap { owner -> [any Checking] in
            [
                Mirror("\(owner._id).codes", owner.home!.codes) {
                    "\($0)"
                } observe: { [codes = owner.home!.codes] block in
                    codes.observe { block($0) }
                },
                Mirror("\(owner._id).others", owner.others, image: address) {
                    PersonNotificationModelTests.row($0)
                } observe: { block in
                    owner.others.observe { block($0) }
                },
            ]
                + [
                    owner.others.where { $0.spot != nil }, owner.others.sorted(byKeyPath: "city"),
                ].enumerated().map { index, results in
                    Mirror("\(owner._id).others, results \(index)", results, image: address) {
                        PersonNotificationModelTests.row($0)
                    } observe: { block in
                        results.observe { block($0) }
                    }
                }
        }
            + realm.objects(Dog.self).prefix(2).flatMap { dog -> [any Checking] in
                [
                    Mirror("owners", dog.owners, image: person) {
                        Int64($0._id)
                    } observe: { block in
                        dog.owners.observe { block($0) }
                    },
                    Mirror("admirers", dog.admirers, image: person) {
                        Int64($0._id)
                    } observe: { block in
                        dog.admirers.observe { block($0) }
                    },
                ]
            }
    }

    @Test(
        "Copies of LinkingObjects and of lists in embedded objects equal the collections", arguments: 0..<2)
    func collections(round: Int) throws {
        try run("collections \(round)", steps: 150, perCommit: 6) { mirrors($0) }
    }

    // MARK: Running

    private func run(
        _ name: String, steps: Int, perCommit: Int = 1,
        watching: (Realm) -> [any Checking]
    ) throws {
        var random = RandomValues(.printed(for: "nested notifications, \(name)"))
        let configuration = Realm.Configuration(inMemoryIdentifier: name, objectTypes: personClasses)
        let realms = try (0..<2).map { _ in try Realm.fresh(configuration) }
        var writers = realms.enumerated().map { index, realm in
            Write(realm, RandomValues(SeededGenerator(seed: random.generator.next())), first: 100 + index * 1_000_000)
        }
        try realms[0].write {
            for _ in 0..<6 { realms[0].add(Dog("first")) }
            for id in 1...3 { realms[0].add(writers[0].person(id)) }
            for _ in 0..<40 { writers[0].step() }
        }
        realms[1].refresh()
        let watchers = realms.flatMap { watching($0) }
        for realm in realms { realm.refresh() }
        for _ in 0..<steps {
            let index = random.int(0...1)
            var isCoarse = false
            try realms[index].write {
                for _ in 0..<random.int(1...perCommit) {
                    writers[index].step()
                    isCoarse = isCoarse || writers[index].isCoarse
                }
            }
            if perCommit > 1, random.flag() { continue }
            for realm in realms { realm.refresh() }
            let problems = watchers.flatMap { $0.check(isCoarse: isCoarse) }
            guard problems.isEmpty else {
                Issue.record("\(problems.joined(separator: "\n"))")
                return
            }
        }
    }
}
