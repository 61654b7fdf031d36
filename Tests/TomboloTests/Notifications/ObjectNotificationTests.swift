import Foundation
import Testing
import TomboloModel

@testable import Tombolo

@Suite("Notifications of objects")
struct ObjectNotificationTests {
    let folder: TemporaryFolder
    let realm: Realm
    let other: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm.fresh(folder.configuration())
        other = try Realm.fresh(folder.configuration())
        try other.write {
            let session = Session(1, "First")
            session.room = other.create(Room.self, value: ["name": "Hall"])
            other.add(session)
            other.create(Speaker.self, value: ["_id": "ada"])
        }
        realm.refresh()
    }

    private func session(_ realm: Realm) throws -> Session {
        try #require(realm.object(ofType: Session.self, forPrimaryKey: 1))
    }

    private final class Book {
        private var entries: [String] = []

        func note(_ change: ObjectChange<Session>) {
            switch change {
            case .deleted: entries.append("deleted")
            case .error(let error): entries.append("\(error)")
            case .change(let session, let properties):
                let texts = properties.map { "\($0.name): \(Self.text($0.oldValue)) → \(Self.text($0.newValue))" }
                entries.append("\(session._id) " + texts.joined(separator: ", "))
            }
        }

        private static func text(_ value: Any?) -> String {
            switch value {
            case nil: "nil"
            case let room as Room: room.name
            case let list as List<Speaker>: "\(Array(list.map(\._id)))"
            case let value?: "\(value)"
            }
        }

        func take() -> [String] {
            defer { entries = [] }
            return entries
        }
    }

    private func elsewhere(_ block: () throws -> Void) throws {
        try other.write(block)
        realm.refresh()
    }

    @Test("A change reports properties with old and new values; there's no initial call")
    func values() throws {
        let book = Book()
        let token = try session(realm).observe { book.note($0) }
        realm.refresh()
        #expect(book.take() == [])
        try elsewhere {
            try session(other).title = "Second"
            try session(other).rating = 4.5
        }
        #expect(book.take() == ["1 title: First → Second, rating: nil → 4.5"])
        try elsewhere {
            try session(other).level = .expert
            try session(other).rating = nil
        }
        #expect(book.take() == ["1 rating: 4.5 → nil, level: beginner → expert"])
        token.invalidate()
    }

    @Test("Writing the same value counts, a new link counts, a change of the linked object doesn't")
    func shallow() throws {
        let book = Book()
        let token = try session(realm).observe { book.note($0) }
        try elsewhere { try session(other).title = "First" }
        #expect(book.take() == ["1 title: First → First"])
        try elsewhere { other.objects(Room.self)[0].name = "Attic" }
        #expect(book.take() == [])
        try elsewhere { try session(other).room = nil }
        #expect(book.take() == ["1 room: Attic → nil"])
        try elsewhere { try session(other).speakers.append(other.objects(Speaker.self)[0]) }
        #expect(book.take() == [#"1 speakers: nil → ["ada"]"#])
        token.invalidate()
    }

    @Test("The Realm's own writes are reported without old values, after write has returned")
    func ownWrites() throws {
        let book = Book()
        let token = try session(realm).observe { book.note($0) }
        try realm.write { try session(realm).title = "Mine" }
        #expect(book.take() == [])
        realm.refresh()
        #expect(book.take() == ["1 title: nil → Mine"])
        // The next old value is the one from the Realm's own write.
        try elsewhere { try session(other).title = "Theirs" }
        #expect(book.take() == ["1 title: Mine → Theirs"])
        try realm.write(withoutNotifying: [token]) { try session(realm).title = "Silent" }
        realm.refresh()
        #expect(book.take() == [])
        try elsewhere { try session(other).title = "Loud" }
        #expect(book.take() == ["1 title: Silent → Loud"])
        token.invalidate()
    }

    @Test("Deletion is reported once, even if another object takes the key")
    func deletion() throws {
        let book = Book()
        let token = try session(realm).observe { book.note($0) }
        try other.write { other.delete(try session(other)) }
        try elsewhere { other.add(Session(1, "Another")) }
        #expect(book.take() == ["deleted"])
        try elsewhere { try session(other).title = "Changed" }
        #expect(book.take() == [])
        token.invalidate()
    }

    @Test("A deleted object's instance stays invalidated even if another object takes its key")
    func invalidated() throws {
        let read = try session(realm)
        #expect(read.title == "First")
        let made = Session(2, "Made here")
        try realm.write { realm.add(made) }
        other.refresh()
        try other.write { other.delete(other.objects(Session.self)) }
        try other.write { for id in 1...2 { other.add(Session(id, "Another")) } }
        realm.refresh()
        #expect(read.isInvalidated && made.isInvalidated)
        let (first, second) = (try session(realm), try session(realm))
        #expect(first.title == "Another" && !first.isInvalidated)
        // One of the Realm's own transactions that is undone, one that is committed, and two.
        realm.beginWrite()
        realm.delete(second)
        realm.add(Session(1, "Undone"))
        realm.cancelWrite()
        #expect(first.isInvalidated && second.isInvalidated)
        let third = try session(realm)
        try realm.write {
            let within = try session(realm)
            #expect(within.title == "Another")
            realm.delete(third)
            realm.add(Session(1, "Third"))
            #expect(first.isInvalidated && within.isInvalidated)
        }
        let fourth = try session(realm)
        #expect(fourth.title == "Third")
        try realm.write { realm.delete(realm.objects(Session.self).where { $0._id == 1 }) }
        try realm.write { realm.add(Session(1, "Fifth")) }
        #expect(fourth.isInvalidated)
        #expect(try session(realm).title == "Fifth")
        // Properties that are written but never read keep their values.
        let fifth = try session(realm)
        try elsewhere { other.add(Session(1, "Fifth again"), update: .all) }
        #expect(!fifth.isInvalidated && fifth.title == "Fifth again")
    }

    @Test("Key paths choose properties and reach through links")
    func keyPaths() throws {
        let (title, deep) = (Book(), Book())
        let tokens = [
            try session(realm).observe(keyPaths: ["title"]) { title.note($0) },
            try session(realm).observe(keyPaths: [\Session.room?.name, \Session.price]) { deep.note($0) },
        ]
        try elsewhere { try session(other).price = 99 }
        #expect(title.take() == [])
        #expect(deep.take() == ["1 price: 10 → 99"])
        try elsewhere { other.objects(Room.self)[0].name = "Attic" }
        #expect(deep.take() == ["1 room: Attic → Attic"])
        try elsewhere { try session(other).title = "Second" }
        #expect(title.take() == ["1 title: First → Second"])
        #expect(deep.take() == [])
        for token in tokens { token.invalidate() }
    }

    @Test("Deleted and unmanaged objects can't be observed")
    func unobservable() async throws {
        let deleted = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(configuration: .init(inMemoryIdentifier: "observing", objectTypes: [Session.self]))
            let session = Session(1, "One")
            try realm.write { realm.add(session) }
            try realm.write { realm.delete(session) }
            _ = session.observe { _ in }
        }
        #expect(
            String(decoding: deleted.standardErrorContent, as: UTF8.self).contains(
                "This Session is deleted or invalidated and cannot be observed."))
        let unmanaged = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Session(1, "One").observe { _ in }
        }
        #expect(
            String(decoding: unmanaged.standardErrorContent, as: UTF8.self).contains(
                "Only managed objects can be observed: add this Session to a Realm first."))
    }
}
