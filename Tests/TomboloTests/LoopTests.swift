import Foundation
import RandomValues
import Testing
import TomboloModel

@testable import Tombolo

/// `for … in` reads rows from the query's statement through a single object, which moves on with the rows unless the app keeps it.
@Suite("Loops over results")
struct LoopTests {
    private let folder: TemporaryFolder
    private let realm: Realm
    private static let count = 600

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(configuration: folder.configuration(types: personClasses))
        try realm.write {
            for number in 0..<Self.count {
                let person = Person(number, Self.name(number))
                person.home = Address("street \(number)")
                person.tags.append("tag \(number)")
                realm.add(person)
            }
        }
    }

    private static func name(_ number: Int) -> String { "person \(number), with a name that is not short" }

    private var people: Results<Person> { realm.objects(Person.self) }

    @Test("Objects kept from a loop don't turn into other objects", arguments: [1, 2, 7, 100])
    func kept(every step: Int) {
        var kept: [Person] = []
        var names: [String] = []
        for person in people {
            names.append(person.name)
            if person._id % step == 0 { kept.append(person) }
        }
        #expect(names == (0..<Self.count).map(Self.name))
        let keptNumbers = Array(stride(from: 0, to: Self.count, by: step))
        #expect(kept.map(\._id) == keptNumbers)
        #expect(kept.map(\.name) == keptNumbers.map(Self.name))
    }

    @Test("An object stays valid after its loop has ended early", arguments: [0, 1, 5, 20, 300])
    func endedEarly(at number: Int) throws {
        var found: Person?
        for person in people {
            if person._id == number {
                found = person
                break
            }
        }
        for _ in people {}
        #expect(found?.name == Self.name(number))
        try realm.write { found?.name = "new" }
        #expect(found?.name == "new")
        #expect(realm.object(ofType: Person.self, forPrimaryKey: number)?.name == "new")
    }

    @Test("Kept lists and embedded objects keep their row even if its object isn't kept")
    func parts() {
        var homes: [Address] = []
        var tags: [List<String>] = []
        for person in people where person._id % 3 == 0 {
            if let home = person.home { homes.append(home) }
            tags.append(person.tags)
        }
        let numbers = Array(stride(from: 0, to: Self.count, by: 3))
        #expect(homes.map(\.street) == numbers.map { "street \($0)" })
        #expect(tags.map(\.first) == numbers.map { "tag \($0)" })
    }

    @Test("Nested loops don't disturb each other")
    func nested() {
        var pairs = 0
        var isRight = true
        for outer in people.where({ $0._id < 20 }) {
            for inner in people.where({ $0._id < 20 }) {
                pairs += 1
                isRight = isRight && inner.name == Self.name(inner._id)
            }
            isRight = isRight && outer.name == Self.name(outer._id)
        }
        #expect(pairs == 400)
        #expect(isRight)
    }

    @Test("Objects of a loop stay right while the loop writes, commits and refreshes")
    func changes() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let other = try Realm.fresh(folder.configuration(types: personClasses))
        var names = (0..<Self.count).map(Self.name)
        var deleted: Set<Int> = []
        for _ in 0..<15 {
            var kept: [Person] = []
            for person in people {
                let number = person._id
                #expect(person.name == names[number], "seed \(seed)")
                switch Int.random(in: 0..<120, using: &random) {
                case 0:
                    try realm.write { person.name += "!" }
                    names[number] += "!"
                case 1:
                    try other.write { other.object(ofType: Person.self, forPrimaryKey: number)?.name = "theirs" }
                    names[number] = "theirs"
                    realm.refresh()
                case 2:
                    try realm.write { realm.delete(person) }
                    deleted.insert(number)
                    #expect(person.isInvalidated)
                    continue
                case 3: kept.append(person)
                case 4:
                    realm.beginWrite()
                    person.name = "undone"
                    realm.cancelWrite()
                case 5:
                    #expect(person.freeze().name == names[number], "seed \(seed)")
                default: break
                }
                #expect(person.name == names[number], "seed \(seed)")
                #expect(person.tags.first == "tag \(number)", "seed \(seed)")
            }
            #expect(kept.allSatisfy { $0.isInvalidated || $0.name == names[$0._id] }, "seed \(seed)")
        }
        #expect(Set(people.map(\._id)) == Set(0..<Self.count).subtracting(deleted), "seed \(seed)")
    }

    @Test("Invalidating the Realm in a loop ends it")
    func invalidated() {
        var seen = 0
        for person in people {
            seen += 1
            if person._id == 10 { realm.invalidate() }
        }
        #expect(seen == 11)
    }
}
