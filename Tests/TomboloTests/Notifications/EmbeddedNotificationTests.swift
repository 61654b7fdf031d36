import Dispatch
import Foundation
import Testing
import TomboloModel

@testable import Tombolo

@Suite("Notifications of embedded objects, and of lists inside them")
struct EmbeddedNotificationTests {
    let folder: TemporaryFolder
    let realm: Realm
    let other: Realm

    init() throws {
        folder = try TemporaryFolder()
        let configuration = folder.configuration(types: personClasses)
        realm = try Realm.fresh(configuration)
        other = try Realm.fresh(configuration)
        try other.write {
            let person = Person(1, "Ada")
            person.home = Address("Main St", "London")
            person.home?.spot = Spot(value: ["x": 1, "y": 2])
            person.home?.codes.append(objectsIn: [1, 2, 3])
            for name in ["A", "B", "C"] { person.others.append(Address(name)) }
            person.others[1].spot = Spot(value: ["x": 5, "y": 6])
            other.add(person)
            other.add(Dog("Rex"))
        }
        realm.refresh()
    }

    private func person(_ realm: Realm) throws -> Person {
        try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
    }

    private func elsewhere(_ block: (Person) throws -> Void) throws {
        try other.write { try block(try person(other)) }
        realm.refresh()
    }

    private final class Book<T: ObjectBase> {
        private var entries: [String] = []

        func note(_ change: ObjectChange<T>) {
            switch change {
            case .deleted: entries.append("deleted")
            case .error(let error): entries.append("\(error)")
            case .change(_, let properties):
                entries.append(
                    properties.map { "\($0.name): \(Self.text($0.oldValue)) → \(Self.text($0.newValue))" }
                        .joined(separator: ", "))
            }
        }

        private static func text(_ value: Any?) -> String {
            switch value {
            case nil: "nil"
            case let spot as Spot: "(\(spot.x), \(spot.y))"
            case let dogs as List<Dog>: "\(Array(dogs.map(\.name)))"
            case let rooms as List<RoomInfo>: "\(Array(rooms.map(\.name)))"
            case let codes as List<Int>: "\(Array(codes))"
            case let addresses as List<Address>: "\(Array(addresses.map(\.street)))"
            case let home as Address: home.street
            case let value?: "\(value)"
            }
        }

        func take() -> [String] {
            defer { entries = [] }
            return entries
        }
    }

    @Test("An embedded object reports its own properties; for an object inside it, only its replacement")
    func single() throws {
        let (home, spot, owner) = (Book<Address>(), Book<Spot>(), Book<Person>())
        let ada = try person(realm)
        let tokens = [
            try #require(ada.home).observe { home.note($0) },
            try #require(ada.home?.spot).observe { spot.note($0) },
            ada.observe { owner.note($0) },
        ]
        try elsewhere { $0.home?.city = "Paris" }
        #expect(home.take() == ["city: London → Paris"])
        try elsewhere { $0.home?.spot?.x = 9 }
        #expect(home.take() == [])
        #expect(spot.take() == ["x: 1.0 → 9.0"])
        try elsewhere { person in
            person.home?.visitors.append(other.objects(Dog.self)[0])
            person.home?.codes.append(4)
            person.home?.rooms.append(RoomInfo(value: ["Hall", 1]))
        }
        #expect(
            home.take() == [
                #"visitors: nil → ["Rex"], rooms: nil → ["Hall"], codes: nil → [1, 2, 3, 4]"#
            ])
        try elsewhere { $0.name = "Lovelace" }
        #expect(home.take() == [] && spot.take() == [])
        #expect(owner.take() == ["name: Ada → Lovelace"])
        try elsewhere { $0.home?.spot = Spot(value: ["x": 7, "y": 8]) }
        #expect(home.take() == ["spot: nil → (7.0, 8.0)"])
        #expect(spot.take() == ["deleted"])
        try elsewhere { $0.home = Address("Side St") }
        #expect(home.take() == ["deleted"])
        #expect(owner.take() == ["home: nil → Side St"])
        try elsewhere { $0.home?.city = "Rome" }
        #expect(home.take() == [] && spot.take() == [])
        for token in tokens { token.invalidate() }
    }

    @Test("An embedded object reports deletion with its parent and when it's set to nil", arguments: [true, false])
    func ends(byParent: Bool) throws {
        let (home, spot) = (Book<Address>(), Book<Spot>())
        let ada = try person(realm)
        let tokens = [
            try #require(ada.home).observe { home.note($0) }, try #require(ada.home?.spot).observe { spot.note($0) },
        ]
        try elsewhere { if byParent { other.delete($0) } else { $0.home = nil } }
        #expect(home.take() == ["deleted"])
        #expect(spot.take() == ["deleted"])
        for token in tokens { token.invalidate() }
    }

    @Test("A list element reports changes like any object, wherever it moves, until it's removed")
    func elements() throws {
        let (element, spot) = (Book<Address>(), Book<Spot>())
        let ada = try person(realm)
        let tokens = [
            ada.others[1].observe { element.note($0) }, try #require(ada.others[1].spot).observe { spot.note($0) },
        ]
        try elsewhere { $0.others[1].city = "Bath" }
        #expect(element.take() == ["city: Nowhere → Bath"])
        try elsewhere { person in
            person.others[0].city = "Not this one"
            person.others.move(from: 1, to: 2)
        }
        #expect(element.take() == [])
        try elsewhere { $0.others[2].spot?.y = 0 }
        #expect(element.take() == [])
        #expect(spot.take() == ["y: 6.0 → 0.0"])
        try elsewhere { $0.others[2].rooms.append(RoomInfo(value: ["Attic", 3])) }
        #expect(element.take() == [#"rooms: nil → ["Attic"]"#])
        try elsewhere { $0.others[2].rooms[0].name = "Cellar" }
        #expect(element.take() == [#"rooms: nil → ["Cellar"]"#])
        try elsewhere { $0.others[1].rooms.append(RoomInfo(value: ["Not this one", 3])) }
        #expect(element.take() == [])
        try elsewhere { $0.others[2].rooms.removeAll() }
        #expect(element.take() == ["rooms: nil → []"])
        try elsewhere { $0.others[2] = Address("Another") }
        #expect(element.take() == ["deleted"])
        #expect(spot.take() == ["deleted"])
        for token in tokens { token.invalidate() }
    }

    /// Gives an element a new rank in the same place.
    private func rerank(_ position: Int, of list: List<Address>) {
        list.move(from: position, to: position + 1)
        list.move(from: position + 1, to: position)
    }

    @Test("A list reports a change inside an element that was re-ranked without moving", arguments: [0, 9])
    func rerankedElement(others more: Int) throws {
        try elsewhere { person in
            for number in 0..<more { person.others.append(Address("More \(number)")) }
        }
        let book = ChangeLogbook<List<Address>> { $0.street }
        let token = try person(realm).others.observe { book.note($0) }
        realm.refresh()
        _ = book.take()
        try elsewhere { person in
            rerank(0, of: person.others)
            person.others[0].rooms.append(RoomInfo(value: ["Attic", 3]))
        }
        #expect(book.take() == ["-[] +[] ~[0]"])
        // Moves the element away and back in two commits.
        try other.write { try person(other).others.move(from: 0, to: 1) }
        try elsewhere { person in
            person.others.move(from: 1, to: 0)
            person.others[0].rooms[0].size = 4
        }
        #expect(book.take() == ["-[] +[] ~[0]"])
        try elsewhere { person in
            rerank(0, of: person.others)
            person.others[0].visitors.append(other.objects(Dog.self)[0])
        }
        #expect(book.take() == ["-[] +[] ~[0]"])
        try elsewhere { person in
            rerank(0, of: person.others)
            other.objects(Dog.self)[0].name = "Bello"
        }
        #expect(book.take() == ["-[] +[] ~[0]"])
        try elsewhere { rerank(0, of: $0.others) }
        #expect(book.take() == [])
        token.invalidate()
    }

    @Test("A list's results report what its elements' own lists lose, but not a new rank in the old place")
    func resultsOfList() throws {
        try elsewhere { person in
            person.others[1].rooms.append(RoomInfo(value: ["Attic", 3]))
            person.others[2].visitors.append(other.objects(Dog.self)[0])
        }
        let (filtered, sorted) = (
            ChangeLogbook<Results<Address>> { $0.street }, ChangeLogbook<Results<Address>> { $0.street }
        )
        let others = try person(realm).others
        let tokens = [
            others.where { $0.street != "A" }.observe { filtered.note($0) },
            others.sorted(byKeyPath: "street", ascending: false).observe { sorted.note($0) },
        ]
        realm.refresh()
        _ = (filtered.take(), sorted.take())
        func told(_ book: ChangeLogbook<Results<Address>>) -> [Int] { book.take().isEmpty ? [] : book.modifications }
        try elsewhere { $0.others[1].rooms.remove(at: 0) }
        #expect(told(filtered).contains(0) && told(sorted).contains(1))
        try elsewhere { _ in other.delete(other.objects(Dog.self)[0]) }
        #expect(told(filtered).contains(1) && told(sorted).contains(0))
        try elsewhere { rerank(1, of: $0.others) }
        #expect(filtered.take() == [] && sorted.take() == [])
        for token in tokens { token.invalidate() }
    }

    @Test("Key paths can pass through embedded objects and lists, and start or end at an embedded object")
    func keyPaths() throws {
        let (home, element, owner, list) = (Book<Address>(), Book<Address>(), Book<Person>(), Book<Person>())
        let ada = try person(realm)
        let tokens = [
            try #require(ada.home).observe(keyPaths: [\Address.spot?.x, \Address.street]) { home.note($0) },
            ada.others[1].observe(keyPaths: ["visitors.name", "spot.y"]) { element.note($0) },
            ada.observe(keyPaths: ["home.city"]) { owner.note($0) },
            ada.observe(keyPaths: ["others.city"]) { list.note($0) },
        ]
        try elsewhere { $0.home?.spot?.x = 3 }
        #expect(home.take() == ["spot: nil → (3.0, 2.0)"])
        try elsewhere { $0.home?.spot?.y = 3 }
        try elsewhere { $0.home?.city = "Oslo" }
        #expect(home.take() == [])
        #expect(owner.take() == ["home: nil → Main St"])
        try elsewhere { $0.others[1].visitors.append(other.objects(Dog.self)[0]) }
        #expect(element.take() == [#"visitors: nil → ["Rex"]"#])
        try elsewhere { _ in other.objects(Dog.self)[0].name = "Bello" }
        #expect(element.take() == [#"visitors: nil → ["Bello"]"#])
        try elsewhere { $0.others[1].spot?.y = 1 }
        #expect(element.take() == ["spot: nil → (5.0, 1.0)"])
        try elsewhere { $0.others[0].street = "A2" }
        #expect(list.take() == [])
        try elsewhere { $0.others[0].city = "Ely" }
        #expect(list.take() == [#"others: nil → ["A2", "B", "C"]"#])
        #expect(element.take() == [] && owner.take() == [])
        for token in tokens { token.invalidate() }
    }

    @Test("A list of values inside an embedded object reports how its values differ")
    func codes() throws {
        let book = ChangeLogbook<List<Int>> { "\($0)" }
        let list = try #require(try person(realm).home?.codes)
        let token = list.observe { book.note($0) }
        realm.refresh()
        #expect(book.take() == ["initial 3"])
        try elsewhere { $0.home?.codes.append(4) }
        #expect(book.take() == ["-[] +[3] ~[]"])
        try elsewhere { $0.home?.codes[1] = 20 }
        #expect(book.take() == ["-[] +[] ~[1]"])
        try elsewhere { person in
            person.home?.codes.remove(at: 0)
            person.home?.codes.insert(5, at: 2)
        }
        #expect(book.take() == ["-[0] +[2] ~[]"])
        try elsewhere { $0.home?.city = "Elsewhere" }
        #expect(book.take() == [])
        try realm.write { list.removeAll() }
        realm.refresh()
        #expect(book.take() == ["-[0, 1, 2, 3] +[] ~[]"])
        try elsewhere { $0.home?.codes.append(1) }
        try elsewhere { $0.home = Address("New") }
        #expect(book.take() == ["-[] +[0] ~[]", "-[0] +[] ~[]"])
        try elsewhere { $0.home?.codes.append(2) }
        #expect(book.take() == [])
        token.invalidate()
    }

    @Test("On a queue, an embedded object and its list belong to the queue's Realm, and the token ends both")
    func onQueue() throws {
        let queue = DispatchQueue(label: "test")
        let mark = QueueMark(marking: queue)
        let heard = DispatchSemaphore(value: 0)
        let texts = Texts()
        let ada = try person(realm)
        let tokens = [
            try #require(ada.home).observe(on: queue) { change in
                guard mark.isCurrent, case .change(let home, let properties) = change else { return }
                texts.append("\(home.city) \(properties.map(\.name))")
                heard.signal()
            },
            try #require(ada.home).codes.observe(on: queue) { change in
                guard mark.isCurrent else { return }
                if case .update(let codes, _, _, _) = change { texts.append("\(Array(codes))") }
                heard.signal()
            },
        ]
        heard.wait()
        try other.write {
            try person(other).home?.city = "Cork"
            try person(other).home?.codes.removeAll()
        }
        heard.wait()
        heard.wait()
        #expect(texts.all.sorted() == [#"Cork ["city", "codes"]"#, "[]"])
        for token in tokens { token.invalidate() }
    }

    @Test("A key path that leads nowhere is refused, naming the class")
    func wrongKeyPath() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(configuration: .init(inMemoryIdentifier: "paths", objectTypes: personClasses))
            let person = Person(1)
            person.home = Address("A")
            try realm.write { realm.add(person) }
            _ = person.home?.observe(keyPaths: ["spot.z"]) { _ in }
        }
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(message.contains("'spot.z' isn't a key path of Address"))
    }
}
