import Dispatch
import Foundation
import Testing
import TomboloModel

@testable import Tombolo

@Suite("Notifications of LinkingObjects")
struct LinkingObjectsNotificationTests {
    let folder: TemporaryFolder
    let realm: Realm
    let other: Realm

    init() throws {
        folder = try TemporaryFolder()
        let configuration = folder.configuration(types: personClasses)
        realm = try Realm.fresh(configuration)
        other = try Realm.fresh(configuration)
        try other.write {
            other.add(Dog("Rex"))
            for id in 1...4 { other.add(Person(id, "P\(id)")) }
        }
        realm.refresh()
    }

    private func person(_ id: Int) throws -> Person {
        try #require(other.object(ofType: Person.self, forPrimaryKey: id))
    }

    private func elsewhere(_ block: () throws -> Void) throws {
        try other.write(block)
        realm.refresh()
    }

    @Test("Links through a list report insertions, deletions and changes; an object that links twice appears twice")
    func list() throws {
        let dog = realm.objects(Dog.self)[0]
        let theirs = other.objects(Dog.self)[0]
        let book = ChangeLogbook<LinkingObjects<Person>> { $0.name }
        let token = dog.owners.observe { book.note($0) }
        realm.refresh()
        #expect(book.take() == ["initial 0"])
        try elsewhere {
            try person(3).dogs.append(theirs)
            try person(1).dogs.append(objectsIn: [theirs, theirs])
        }
        #expect(book.take() == ["-[] +[0, 1, 2] ~[]"])
        #expect(book.mirror == ["P1", "P1", "P3"])
        try elsewhere { try person(2).dogs.append(theirs) }
        #expect(book.take() == ["-[] +[2] ~[]"])
        try elsewhere { try person(1).name = "Ada" }
        #expect(book.take() == ["-[] +[] ~[0, 1]"])
        try elsewhere { try person(1).dogs.remove(at: 0) }
        #expect(book.take() == ["-[0] +[] ~[1]"])
        try elsewhere { other.delete(try person(2)) }
        #expect(book.take() == ["-[1] +[] ~[]"])
        try elsewhere { try person(4).name = "Nobody's" }
        #expect(book.take() == [])
        try elsewhere { other.delete(theirs) }
        #expect(book.take() == ["-[0, 1] +[] ~[]"])
        try elsewhere { try person(1).name = "Not told" }
        #expect(book.take() == [])
        token.invalidate()
    }

    @Test("Links through a property are reported, and key paths choose which changes count")
    func link() throws {
        let dog = realm.objects(Dog.self)[0]
        let theirs = other.objects(Dog.self)[0]
        let (all, names) = (
            ChangeLogbook<LinkingObjects<Person>> { $0.name }, ChangeLogbook<LinkingObjects<Person>> { $0.name }
        )
        let tokens = [
            dog.admirers.observe { all.note($0) },
            dog.admirers.observe(keyPaths: [\.name]) { names.note($0) },
        ]
        realm.refresh()
        try elsewhere { for id in [1, 3] { try person(id).best = theirs } }
        try elsewhere { try person(2).best = theirs }
        try elsewhere { try person(3).tags.append("tag") }
        #expect(all.take() == ["initial 0", "-[] +[0, 1] ~[]", "-[] +[1] ~[]", "-[] +[] ~[2]"])
        #expect(names.take() == ["initial 0", "-[] +[0, 1] ~[]", "-[] +[1] ~[]"])
        try elsewhere {
            try person(1).best = nil
            try person(2).name = "Bob"
        }
        #expect(all.take() == ["-[0] +[] ~[1]"])
        #expect(names.take() == ["-[0] +[] ~[1]"])
        #expect(names.mirror.count == 2)
        for token in tokens { token.invalidate() }
    }

    @Test("Listeners on a queue get the objects of its Realm")
    func onQueue() throws {
        let queue = DispatchQueue(label: "test")
        let mark = QueueMark(marking: queue)
        let heard = DispatchSemaphore(value: 0)
        let texts = Texts()
        let token = realm.objects(Dog.self)[0].owners.observe(on: queue) { change in
            guard mark.isCurrent else { return }
            if case .update(let owners, _, let insertions, _) = change {
                texts.append("\(Array(owners.map(\.name))) \(insertions)")
            }
            heard.signal()
        }
        heard.wait()
        try other.write { try person(2).dogs.append(other.objects(Dog.self)[0]) }
        heard.wait()
        #expect(texts.all == ["[\"P2\"] [0]"])
        token.invalidate()
    }

    @Test("A task gets the changes one by one")
    func sequence() async throws {
        let realm = try await Realm.open(configuration: folder.configuration(types: personClasses))
        let dog = realm.objects(Dog.self)[0]
        var counts = dog.owners.values.makeAsyncIterator()
        #expect(await counts.next()?.count == 0)
        try other.write { try person(1).dogs.append(other.objects(Dog.self)[0]) }
        #expect(await counts.next()?.count == 1)
    }

    @Test("LinkingObjects of an unmanaged object can't be observed")
    func unmanaged() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Dog("Rex").owners.observe { _ in }
        }
        #expect(
            String(decoding: result.standardErrorContent, as: UTF8.self).contains(
                "Only LinkingObjects of managed objects can be observed"))
    }
}
