import Foundation
import Testing
import TomboloModel

@testable import Tombolo

/// In a synced Realm, a link stays when its object leaves, since the server may send the object again. Until then the link reads as
/// nil, and a list element is hidden.
@Suite("Notifications of links whose objects leave a synced Realm and return")
struct SyncedLinkNotificationTests {
    let folder: TemporaryFolder
    let realm: Realm
    let other: Realm

    init() throws {
        folder = try TemporaryFolder()
        let configuration = folder.configuration(synced: true, types: [Feast.self, Diner.self])
        realm = try Realm.fresh(configuration)
        other = try Realm.fresh(configuration)
        try other.write {
            let diners = (1...3).map { Diner($0) }
            for diner in diners { other.add(diner) }
            let feast = Feast()
            feast._id = 1
            for name in ["Soup", "Fish", "Cake"] { feast.courses.append(Course(value: ["name": name])) }
            other.add(feast)
            feast.host = diners[0]
            feast.diners.append(objectsIn: diners[0...1])
            feast.courses[1].cook = diners[0]
            feast.courses[2].tasters.append(objectsIn: diners[0...1])
        }
        realm.refresh()
    }

    private func elsewhere(_ block: () throws -> Void) throws {
        try other.write(block)
        realm.refresh()
    }

    private func diner(_ id: Int) throws -> Diner { try #require(other.object(ofType: Diner.self, forPrimaryKey: id)) }

    @Test("A list reports elements that lose a link or a list element, and those that get it back")
    func elements() throws {
        let book = ChangeLogbook<List<Course>> { $0.name }
        let token = realm.objects(Feast.self)[0].courses.observe { book.note($0) }
        realm.refresh()
        _ = book.take()
        try elsewhere { other.delete(try diner(1)) }
        #expect(book.take() == ["-[] +[] ~[1, 2]"])
        try elsewhere { other.delete(try diner(3)) }
        #expect(book.take() == [])
        try elsewhere { other.add(Diner(1)) }
        #expect(book.take() == ["-[] +[] ~[1, 2]"])
        token.invalidate()
    }

    @Test("An element reports that its link lost its object, or that its list lost an element")
    func element() throws {
        var told: [String] = []
        let tokens = Array(realm.objects(Feast.self)[0].courses).map { course in
            course.observe { change in
                if case .change(let course, let properties) = change {
                    told += properties.map { "\(course.name) \($0.name)" }
                }
            }
        }
        try elsewhere { other.delete(try diner(3)) }
        #expect(told == [])
        try elsewhere { other.delete(try diner(1)) }
        #expect(told == ["Fish cook", "Cake tasters"])
        for token in tokens { token.invalidate() }
    }

    @Test(
        "A key path ending in a link or list reports when its objects leave and return",
        arguments: ["host", "diners", "courses.cook", "courses.tasters"])
    func keyPaths(path: String) throws {
        let book = ChangeLogbook<Results<Feast>> { "\($0._id)" }
        let token = realm.objects(Feast.self).observe(keyPaths: [path]) { book.note($0) }
        realm.refresh()
        _ = book.take()
        try elsewhere { other.delete(try diner(1)) }
        #expect(book.take() == ["-[] +[] ~[0]"])
        try elsewhere { other.delete(try diner(3)) }
        #expect(book.take() == [])
        try elsewhere {
            other.add(Diner(1))
            other.add(Diner(3))
        }
        #expect(book.take() == ["-[] +[] ~[0]"])
        try elsewhere { try diner(1).name = "Another name" }
        #expect(book.take() == [])
        token.invalidate()
    }
}

private final class Diner: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var name: String

    convenience init(_ id: Int) {
        self.init()
        _id = id
    }
}

private final class Course: EmbeddedObject {
    @Persisted var name: String
    @Persisted var cook: Diner?
    @Persisted var tasters: List<Diner>
}

private final class Feast: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var host: Diner?
    @Persisted var diners: List<Diner>
    @Persisted var courses: List<Course>
}
