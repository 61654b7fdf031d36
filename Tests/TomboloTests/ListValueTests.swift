import Foundation
import RandomValues
import Testing
import TomboloModel

@testable import Tombolo

@Suite("Lists of values, and methods every list has")
struct ListValueTests {
    let folder: TemporaryFolder
    let realm: Realm
    let person = Person(1)

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(configuration: folder.configuration(types: personClasses))
        let person = person
        try realm.write { realm.add(person) }
    }

    @Test("Every method does what it does on an array", arguments: 1...3 as ClosedRange<UInt64>)
    func likeAnArray(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var expected: [String] = []
        let list = person.tags
        for _ in 0..<30 {
            try realm.write {
                for _ in 0..<8 {
                    let text = "t\(Int.random(in: 0..<100, using: &generator))"
                    let count = expected.count
                    let place = Int.random(in: 0...count, using: &generator)
                    let other = Int.random(in: 0..<max(1, count), using: &generator)
                    switch Int.random(in: 0..<11, using: &generator) {
                    case 0, 1:
                        list.append(text)
                        expected.append(text)
                    case 2:
                        list.insert(text, at: place)
                        expected.insert(text, at: place)
                    case 3 where place < count:
                        list[place] = text
                        expected[place] = text
                    case 4 where place < count:
                        list.remove(at: place)
                        expected.remove(at: place)
                    case 5 where place < count:
                        list.move(from: place, to: other)
                        expected.insert(expected.remove(at: place), at: other)
                    case 6 where place < count:
                        list.swapAt(place, other)
                        expected.swapAt(place, other)
                    case 7:
                        let range = min(place, other)..<max(place, other)
                        list.replaceSubrange(range, with: [text, "x"])
                        expected.replaceSubrange(range, with: [text, "x"])
                    case 8 where count > 4:
                        list.removeFirst(2)
                        list.removeLast()
                        expected.removeFirst(2)
                        expected.removeLast()
                    case 9:
                        let offsets = IndexSet((0..<count).filter { $0 % 3 == 1 })
                        list.remove(atOffsets: offsets)
                        expected = expected.enumerated().filter { $0.offset % 3 != 1 }.map(\.element)
                    case 10 where count > 3:
                        list.move(fromOffsets: [0, 2], toOffset: count)
                        expected = [expected[1]] + expected[3...] + [expected[0], expected[2]]
                    default: break
                    }
                    #expect(Array(list) == expected, "seed \(seed)")
                    #expect(Array(person.tags) == expected, "seed \(seed), another instance")
                }
            }
            let other = try Realm.fresh(realm.configuration)
            #expect(other.objects(Person.self)[0].tags.map { $0 } == expected, "seed \(seed), other Realm")
        }
    }

    @Test("Moving several elements at once works as on an array")
    func moveOffsets() throws {
        let list = List<Int>()
        list.append(objectsIn: 0..<6)
        list.move(fromOffsets: [4, 5], toOffset: 1)
        #expect(Array(list) == [0, 4, 5, 1, 2, 3])
        list.move(fromOffsets: [0, 1], toOffset: 5)
        #expect(Array(list) == [5, 1, 2, 0, 4, 3])
        list.move(fromOffsets: [0, 5], toOffset: 3)
        #expect(Array(list) == [1, 2, 5, 3, 0, 4])
    }

    @Test("Elements may be nil if their type is optional")
    func optionals() throws {
        try realm.write { person.scores.append(objectsIn: [1, nil, 3]) }
        #expect(Array(person.scores) == [1, nil, 3])
        #expect(person.scores.index(of: nil) == 1)
        try realm.write { person.scores[0] = nil }
        #expect(Array(try Realm.fresh(realm.configuration).objects(Person.self)[0].scores) == [nil, nil, 3])
    }

    @Test("A list is the same list through every instance, and dies with its object")
    func invalidation() throws {
        let dogs = person.dogs
        try realm.write { dogs.append(objectsIn: [Dog("a"), Dog("b")]) }
        #expect(dogs.realm == realm)
        #expect(person.dogs.index(of: dogs[1]) == 1)
        #expect(dogs.value(forKey: "name").map { $0 as? String } == ["a", "b"])
        try realm.write { dogs.setValue("c", forKey: "name") }
        #expect(dogs.objects(at: [1, 0]).map(\.name) == ["c", "c"])
        try realm.write { realm.delete(person) }
        #expect(dogs.isInvalidated)
        #expect(realm.objects(Dog.self).count == 2)
    }

    @Test("Links to objects without a primary key are stored, and become nil when those are deleted")
    func linksWithoutKey() throws {
        let rex = Dog("Rex")
        try realm.write {
            person.best = rex
            person.dogs.append(objectsIn: [rex, Dog("Bo"), rex])
        }
        #expect(person.best == rex)
        #expect(rex.owners.map(\._id) == [1, 1])
        #expect(rex.admirers.map(\._id) == [1])
        try realm.write { realm.delete(rex) }
        #expect(person.best == nil)
        #expect(person.dogs.map(\.name) == ["Bo"])
        try realm.write { realm.add(Dog("New")) }
        #expect(person.best == nil && person.dogs.map(\.name) == ["Bo"])
    }

    @Test("Cascading deletes follow chains and circles")
    func cascade() throws {
        try realm.write {
            let order = Order(value: ["_id": "o"])
            let first = Attendee(value: ["order": order])
            let second = Attendee(value: ["guestOf": first])
            let third = Attendee(value: ["guestOf": second])
            second.order = Order(value: ["_id": "other"])
            realm.add(third)
            first.guestOf = third
            realm.add(Attendee())
        }
        #expect(realm.objects(Attendee.self).count == 4)
        try realm.write { realm.delete(realm.objects(Order.self).where { $0._id == "o" }) }
        #expect(realm.objects(Attendee.self).count == 1)
        #expect(realm.objects(Order.self).map(\._id) == ["other"])
    }
}
