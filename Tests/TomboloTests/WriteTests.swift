import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSQLiteStore

@testable import Tombolo

@Suite("Writing")
struct WriteTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(configuration: folder.configuration(types: [Session.self, Note.self]))
    }

    @Test(
        "A loop that writes visits each object once, whatever it changes, creates or deletes",
        arguments: [1, 3, 9])
    func writingLoop(gap: Int) throws {
        let ids = (1...300).map { $0 * gap - $0 % gap }
        try realm.write { for id in ids { realm.add(Session(id, "\(id)", price: id)) } }
        var deleted: Set<Int> = []
        try realm.write {
            var met: [Int] = []
            var kept: [Session] = []
            for (number, session) in realm.objects(Session.self).enumerated() {
                let id = session._id
                #expect(session.title == "\(id)" && session.price == id && session.rating == nil)
                met.append(id)
                session.title = "changed, which is longer than before"
                session.price += 1
                session.rating = 0.5
                if number % 5 == 0 { kept.append(session) }
                if number % 7 == 0 {
                    for other in [id + gap, id + 2 * gap] {
                        guard let next = realm.object(ofType: Session.self, forPrimaryKey: other) else { continue }
                        deleted.insert(other)
                        realm.delete(next)
                    }
                }
                if number % 11 == 0 { realm.add(Session(1_000_000 + id, "new")) }
                #expect(session.title == "changed, which is longer than before" && session.price == id + 1)
            }
            #expect(met == ids.filter { !deleted.contains($0) })
            #expect(kept.allSatisfy { $0.price == $0._id + 1 && $0.rating == 0.5 })
        }
        let old = try Realm.fresh(realm.configuration).objects(Session.self).where { $0._id < 1_000_000 }
        #expect(old.map(\._id) == ids.filter { !deleted.contains($0) })
        #expect(old.allSatisfy { $0.price == $0._id + 1 && $0.title.hasPrefix("changed") && $0.rating == 0.5 })
    }

    @Test("Every kind of property round-trips through the file")
    func roundTrip() throws {
        let token = UUID()
        let id = ObjectId.generate()
        try realm.write {
            let room = Room()
            room._id = id
            room.name = "Hall"
            room.floor = -3
            let session = Session(1, "Opening é", price: 7)
            session.rating = 0.25
            session.startsAt = Date(timeIntervalSince1970: 1_700_000_000.123456)
            session.level = .expert
            session.notes = Data([0, 255])
            session.isOpen = false
            session.token = token
            session.room = room
            realm.add(session)
            realm.add(Session(2, ""))
        }
        let other = try Realm.fresh(folder.configuration(types: [Session.self, Note.self]))
        let session = try #require(other.object(ofType: Session.self, forPrimaryKey: 1))
        #expect(session.title == "Opening é")
        #expect(session.price == 7)
        #expect(session.rating == 0.25)
        #expect(session.startsAt?.microsecondsSince1970 == 1_700_000_000_123_456)
        #expect(session.level == .expert)
        #expect(session.notes == Data([0, 255]))
        #expect(!session.isOpen)
        #expect(session.token == token)
        #expect(session.room?._id == id)
        #expect(session.room?.floor == -3)
        let plain = try #require(other.object(ofType: Session.self, forPrimaryKey: 2))
        #expect(plain.price == 10)
        #expect(plain.rating == nil && plain.notes == nil && plain.room == nil)
        #expect(plain.level == .beginner)
        #expect(other.object(ofType: Session.self, forPrimaryKey: 3) == nil)
    }

    @Test("Adding twice gives one object")
    func addTwice() throws {
        try realm.write { realm.add(Session(1, "First"), update: .modified) }
        try realm.write { realm.add(Session(1, "Second"), update: .modified) }
        let session = Session(1, "Third")
        try realm.write {
            realm.add(session, update: .all)
            realm.add(session)
        }
        #expect(realm.objects(Session.self).map(\.title) == ["Third"])
    }

    @Test("Adding an object with an existing key fails the transaction")
    func duplicate() throws {
        try realm.write { realm.add(Session(1, "First")) }
        let error = #expect(throws: Realm.Error.self) {
            try realm.write {
                realm.add(Session(2, "Other"))
                realm.add(Session(1, "Second"))
            }
        }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.contains("existing primary key value '1'") == true)
        #expect(realm.objects(Session.self).map(\.title) == ["First"])
        #expect(!realm.isInWriteTransaction)
    }

    @Test("A write block that throws stores nothing and invalidates its objects")
    func rollback() throws {
        struct Stop: Error {}
        try realm.write { realm.add([Session(1, "One"), Session(2, "Two")]) }
        let one = try #require(realm.object(ofType: Session.self, forPrimaryKey: 1))
        let two = try #require(realm.object(ofType: Session.self, forPrimaryKey: 2))
        let new = Session(3, "Three")
        #expect(throws: Stop.self) {
            try realm.write {
                one.title = "Changed"
                realm.delete(two)
                realm.add(new)
                #expect(realm.objects(Session.self).count == 2)
                throw Stop()
            }
        }
        #expect(one.title == "One")
        #expect(new.isInvalidated)
        #expect(two.isInvalidated)
        #expect(realm.objects(Session.self).map(\.title) == ["One", "Two"])
        #expect(realm.object(ofType: Session.self, forPrimaryKey: 2)?.title == "Two")
    }

    @Test("A write returns its block's value and doesn't end its transaction twice")
    func blockEnds() throws {
        #expect(try realm.write { 42 } == 42)
        try realm.write {
            realm.add(Session(1, "Kept"))
            try realm.commitWrite()
        }
        try realm.write {
            realm.add(Session(2, "Lost"))
            realm.cancelWrite()
        }
        realm.beginWrite()
        #expect(realm.isInWriteTransaction)
        realm.add(Session(3, "Kept too"))
        try realm.commitWrite()
        #expect(realm.objects(Session.self).map(\._id) == [1, 3])
    }

    @Test(
        "A value its property can't hold fails the transaction",
        arguments: ["U+0000", "NaN", "too long", "another key", "narrow"])
    func badValues(_ kind: String) throws {
        try realm.write {
            realm.add(Session(1, "One"))
            realm.create(Room.self, value: ["_id": ObjectId(), "name": "Hall"])
        }
        let session = try #require(realm.object(ofType: Session.self, forPrimaryKey: 1))
        let error = #expect(throws: Realm.Error.self) {
            try realm.write {
                session.price = 99
                switch kind {
                case "U+0000": session.title = "a\u{0}b"
                case "NaN": session.rating = .nan
                case "too long": session.notes = Data(count: Value.maximumByteCount + 1)
                case "another key": session._id = 5
                default: realm.create(Room.self, value: ["_id": ObjectId(), "floor": 500], update: .modified)
                }
            }
        }
        #expect(error?.code == .invalidInput)
        #expect(session.price == 10)
        #expect(session.title == "One")
    }

    @Test("An unmanaged object with a bad value isn't added")
    func badUnmanaged() throws {
        let session = Session(1, "bad\u{0}")
        #expect(throws: Realm.Error.self) { try realm.write { realm.add(session) } }
        #expect(session.realm == nil)
        #expect(realm.isEmpty)
    }

    @Test("Adding an object adds everything it links to, circles included")
    func graphs() throws {
        let session = Session(1, "Circle")
        let speaker = Speaker(value: ["_id": "ada", "name": "Ada"])
        speaker.sessions.append(session)
        session.speakers.append(speaker)
        session.room = Room(value: ["name": "Hall"])
        try realm.write { realm.add(session) }
        #expect(session.realm == realm)
        #expect(speaker.realm == realm)
        #expect(session.room?.name == "Hall")
        #expect(session.speakers.first?.sessions.first == session)
        #expect(realm.objects(Speaker.self).count == 1)
        var last = Speaker(value: ["_id": "0"])
        let first = last
        for number in 1...20_000 {
            let session = Session(number + 1, "")
            let next = Speaker(value: ["_id": "\(number)"])
            session.speakers.append(next)
            last.sessions.append(session)
            last = next
        }
        try realm.write { realm.add(first) }
        #expect(realm.objects(Speaker.self).count == 20_002)
    }

    @Test("Setting a link to an unmanaged object adds it")
    func linkAdds() throws {
        try realm.write {
            let session = realm.create(Session.self, value: ["_id": 1])
            session.room = Room(value: ["name": "New"])
            #expect(session.room?.isInvalidated == false)
        }
        #expect(realm.objects(Room.self).map(\.name) == ["New"])
        try realm.write { realm.objects(Session.self)[0].room = nil }
        #expect(realm.objects(Session.self)[0].room == nil)
        #expect(realm.objects(Room.self).count == 1)
    }

    @Test("create takes dictionaries, arrays and objects, and updates only what they name")
    func create() throws {
        try realm.write {
            realm.create(
                Session.self,
                value: [
                    "_id": 1, "title": "Opening", "rating": 2, "level": Level.expert,
                    "room": ["name": "Hall", "floor": NSNull()] as [String: Any],
                    "speakers": [["_id": "a", "name": "Ada"], ["_id": "b", "name": "Bob"]],
                ])
            realm.create(Session.self, value: [2, "Closing", 5] as [Any])
        }
        let opening = try #require(realm.object(ofType: Session.self, forPrimaryKey: 1))
        #expect(opening.rating == 2 && opening.price == 10 && opening.level == .expert)
        #expect(opening.room?.name == "Hall")
        #expect(opening.speakers.map(\.name) == ["Ada", "Bob"])
        #expect(realm.object(ofType: Session.self, forPrimaryKey: 2)?.price == 5)
        try realm.write {
            realm.create(Session.self, value: ["_id": 1, "title": "Welcome", "room": NSNull()], update: .modified)
        }
        #expect(opening.title == "Welcome" && opening.rating == 2 && opening.room == nil)
        #expect(opening.speakers.count == 2)
        let copy = try realm.write { realm.create(Session.self, value: ["_id": 3, "title": opening["title"] ?? ""]) }
        #expect(copy.title == "Welcome")
        #expect(throws: Realm.Error.self) {
            try realm.write { realm.create(Session.self, value: ["_id": 4, "title": 5]) }
        }
    }

    @Test("A deleted object leaves links and lists, even if its key comes back")
    func deletion() throws {
        try realm.write {
            realm.create(
                Session.self,
                value: [
                    "_id": 1, "room": ["_id": ObjectId(), "name": "Hall"] as [String: Any],
                    "speakers": [["_id": "a"], ["_id": "b"]],
                ])
        }
        let session = try #require(realm.objects(Session.self).first)
        let room = try #require(session.room)
        try realm.write {
            realm.delete(room)
            realm.delete(session.speakers[0])
            #expect(room.isInvalidated)
            #expect(session.room == nil)
        }
        #expect(session.speakers.map(\._id) == ["b"])
        try realm.write {
            realm.create(Room.self, value: ["_id": ObjectId()])
            realm.create(Speaker.self, value: ["_id": "a"])
        }
        #expect(session.room == nil)
        #expect(session.speakers.map(\._id) == ["b"])
        try realm.write { realm.delete(realm.objects(Speaker.self)) }
        #expect(session.speakers.isEmpty)
        try realm.write { realm.deleteAll() }
        #expect(realm.isEmpty)
        #expect(session.isInvalidated)
    }

    @Test("Objects without a primary key are distinct")
    func withoutKey() throws {
        let notes = [Note(value: ["text": "a"]), Note(value: ["text": "a"])]
        try realm.write { realm.add(notes) }
        #expect(realm.objects(Note.self).count == 2)
        try realm.write {
            notes[0].text = "b"
            realm.delete(notes[1])
            realm.add(Note(value: ["text": "c"]))
        }
        #expect(realm.objects(Note.self).map(\.text) == ["b", "c"])
    }

    @Test("A deleted keyless object's identity isn't reused")
    func identityWithoutKey() throws {
        let configuration = realm.configuration
        let other = try Realm.fresh(configuration)
        try realm.write { realm.add([Note(value: ["text": "a"]), Note(value: ["text": "b"])]) }
        other.refresh()
        let held = try #require(other.objects(Note.self).last)
        #expect(held.text == "b")
        try realm.write { realm.delete(realm.objects(Note.self)) }
        try realm.write { realm.add([Note(value: ["text": "c"]), Note(value: ["text": "d"])]) }
        other.refresh()
        #expect(held.isInvalidated)
        #expect(other.objects(Note.self).map(\.text) == ["c", "d"])
    }

    @Test("Objects of another Realm are copied with everything they link to, circles and chains included")
    func copies() throws {
        let source = try Realm.fresh(.init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Session.self]))
        try source.write {
            let session = Session(1, "One")
            let speaker = Speaker(value: ["_id": "a", "name": "Ada"])
            session.speakers.append(objectsIn: [speaker, speaker])
            speaker.sessions.append(objectsIn: [session, Session(2, "Two")])
            source.add(session)
            var last = session
            for number in 10..<2_000 {
                let next = Session(number, "x")
                let link = Speaker(value: ["_id": "s\(number)"])
                link.sessions.append(next)
                last.speakers.append(link)
                source.add(next)
                last = next
            }
        }
        let original = try #require(source.object(ofType: Session.self, forPrimaryKey: 1))
        let copy = try realm.write { realm.create(Session.self, value: original) }
        #expect(copy.speakers.map(\._id) == ["a", "a", "s10"])
        #expect(copy.speakers[0].sessions.map(\.title) == ["One", "Two"])
        #expect(realm.objects(Session.self).count == source.objects(Session.self).count)
        #expect(realm.objects(Speaker.self).count == source.objects(Speaker.self).count)
    }

    @Test("Properties can be read and written by name")
    func byName() throws {
        let session = Session(1, "One")
        session["price"] = 3
        #expect(session["price"] as? Int == 3)
        try realm.write {
            realm.add(session)
            session["title"] = "Two"
            session["rating"] = nil
            session["room"] = Room(value: ["name": "Hall"])
        }
        #expect(session["title"] as? String == "Two")
        #expect(session["rating"] == nil)
        #expect((session["room"] as? Room)?.name == "Hall")
    }

    @Test("A process killed in a transaction leaves all of it or nothing")
    func killed() async throws {
        for stage in ["before", "after"] {
            let folder = try TemporaryFolder()
            let path = folder.url.appending(path: "test.sqlite").path
            await #expect(processExitsWith: .signal(9)) { [path = path as String, stage = stage as String] in
                let realm = try Realm(
                    configuration: .init(
                        fileURL: URL(fileURLWithPath: path), objectTypes: [Session.self, Note.self]))
                try realm.write { for number in 0..<500 { realm.add(Session(number, "kept")) } }
                realm.beginWrite()
                for number in 500..<3_000 { realm.add(Session(number, "lost")) }
                // Written to the file but not committed.
                _ = realm.objects(Session.self).count
                if stage == "after" { try realm.commitWrite() }
                kill(getpid(), 9)
            }
            let realm = try Realm(configuration: folder.configuration(types: [Session.self, Note.self]))
            #expect(realm.objects(Session.self).count == (stage == "after" ? 3_000 : 500))
        }
    }
}

extension Realm {
    /// A separate Realm, like one that another part of the program has on another thread.
    static func fresh(_ configuration: Configuration) throws -> Realm {
        Realm(core: try RealmCore.open(configuration, .task))
    }
}
