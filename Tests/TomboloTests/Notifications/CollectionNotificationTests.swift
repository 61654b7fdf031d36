import Dispatch
import Foundation
import Testing
import TomboloModel
import TomboloSQLiteStore

@testable import Tombolo

@Suite("Notifications of collections")
struct CollectionNotificationTests {
    let folder: TemporaryFolder
    let realm: Realm
    let other: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm.fresh(folder.configuration())
        other = try Realm.fresh(folder.configuration())
        try other.write {
            for number in 1...5 { other.add(Session(number, "Session \(number)", price: number * 10)) }
        }
        realm.refresh()
    }

    private func sessions(_ realm: Realm) -> Results<Session> { realm.objects(Session.self) }

    private func session(_ id: Int, _ realm: Realm) throws -> Session {
        try #require(realm.object(ofType: Session.self, forPrimaryKey: id))
    }

    private func logbook() -> ChangeLogbook<Results<Session>> { ChangeLogbook { String($0._id) } }

    /// Writes through another Realm and refreshes.
    private func elsewhere(_ block: () throws -> Void) throws {
        try other.write(block)
        realm.refresh()
    }

    @Test(".initial comes first, after observe returns, and includes writes made meanwhile")
    func initial() throws {
        let book = logbook()
        let token = sessions(realm).observe { book.note($0) }
        #expect(book.take() == [])
        try realm.write { realm.add(Session(6, "Sixth")) }
        #expect(book.take() == [])
        realm.refresh()
        #expect(book.take() == ["initial 6"])
        realm.refresh()
        #expect(book.take() == [])
        token.invalidate()
    }

    @Test("Updates give deletions and modifications as old indexes, insertions as new ones")
    func positions() throws {
        let book = logbook()
        let token = sessions(realm).where { $0.price < 1_000 }.sorted(byKeyPath: "price").observe { book.note($0) }
        realm.refresh()
        #expect(book.take() == ["initial 5"])
        try elsewhere {
            other.delete(try session(2, other))
            other.add(Session(7, "Between", price: 35))
            try session(5, other).title = "Changed"
        }
        #expect(book.take() == ["-[1] +[2] ~[4]"])
        #expect(book.mirror == ["1", "3", "7", "4", "5"])
        // One object leaves the filter, and one enters it.
        try elsewhere { try session(1, other).price = 2_000 }
        #expect(book.take() == ["-[0] +[] ~[]"])
        try elsewhere { try session(1, other).price = 999 }
        #expect(book.take() == ["-[] +[4] ~[]"])
        token.invalidate()
    }

    @Test("An object that moves is a deletion and an insertion; one that stays in place is a modification")
    func moves() throws {
        let book = logbook()
        let token = sessions(realm).sorted(byKeyPath: "price", ascending: false).observe { book.note($0) }
        realm.refresh()
        #expect(book.mirror == ["5", "4", "3", "2", "1"])
        _ = book.take()
        try elsewhere { try session(1, other).price = 45 }
        #expect(book.take() == ["-[4] +[1] ~[]"])
        #expect(book.mirror == ["5", "1", "4", "3", "2"])
        try elsewhere { try session(3, other).price = 31 }
        #expect(book.take() == ["-[] +[] ~[3]"])
        token.invalidate()
    }

    @Test("Several commits before the listener runs arrive as one change")
    func coalescing() throws {
        let book = logbook()
        let token = sessions(realm).observe { book.note($0) }
        realm.refresh()
        _ = book.take()
        try other.write { other.add(Session(6, "Sixth")) }
        try other.write { other.delete(try session(1, other)) }
        try other.write { try session(6, other).title = "Again" }
        try other.write { other.add(Session(7, "Gone before anybody saw it")) }
        try other.write { other.delete(try session(7, other)) }
        realm.refresh()
        #expect(book.take() == ["-[0] +[4] ~[]"])
        // The Realm's own commits count too.
        try realm.write { try session(2, realm).title = "Mine" }
        try realm.write { try session(3, realm).title = "Mine" }
        #expect(book.take() == [])
        realm.refresh()
        #expect(book.take() == ["-[] +[] ~[0, 1]"])
        token.invalidate()
    }

    @Test("Writing the value already there is a modification; a write to another class isn't")
    func sameValue() throws {
        let book = logbook()
        let token = sessions(realm).observe { book.note($0) }
        realm.refresh()
        _ = book.take()
        try elsewhere { try session(2, other).price = 20 }
        #expect(book.take() == ["-[] +[] ~[1]"])
        try elsewhere { other.create(Speaker.self, value: ["_id": "ada"]) }
        #expect(book.take() == [])
        token.invalidate()
    }

    @Test("Changes up to four links away count")
    func depth() throws {
        try other.write {
            let speakers = ["a", "b", "c"].map { other.create(Speaker.self, value: ["_id": $0]) }
            let room = other.create(Room.self, value: ["name": "Hall"])
            // 1 → a → 2 → b → 3 → c, and 3 → Hall.
            try session(1, other).speakers.append(speakers[0])
            speakers[0].sessions.append(try session(2, other))
            try session(2, other).speakers.append(speakers[1])
            speakers[1].sessions.append(try session(3, other))
            try session(3, other).speakers.append(speakers[2])
            try session(3, other).room = room
        }
        realm.refresh()
        let book = logbook()
        let token = sessions(realm).where { $0._id == 1 }.observe { book.note($0) }
        realm.refresh()
        _ = book.take()
        try elsewhere { try session(2, other).title = "Two links away" }
        #expect(book.take() == ["-[] +[] ~[0]"])
        try elsewhere { try session(3, other).title = "Four links away" }
        #expect(book.take() == ["-[] +[] ~[0]"])
        try elsewhere { other.objects(Room.self)[0].name = "Five links away" }
        #expect(book.take() == [])
        try elsewhere { try session(1, other).speakers.removeAll() }
        #expect(book.take() == ["-[] +[] ~[0]"])
        try elsewhere { try session(2, other).title = "Not linked any more" }
        #expect(book.take() == [])
        token.invalidate()
    }

    @Test("Key paths choose which properties count, through any number of links; insertions and deletions always do")
    func keyPaths() throws {
        try other.write {
            let room = other.create(Room.self, value: ["name": "Hall"])
            let speaker = other.create(Speaker.self, value: ["_id": "ada", "name": "Ada"])
            try session(1, other).room = room
            try session(1, other).speakers.append(speaker)
        }
        realm.refresh()
        func observe(_ keyPaths: [String]) -> (ChangeLogbook<Results<Session>>, NotificationToken) {
            let book = logbook()
            return (book, sessions(realm).observe(keyPaths: keyPaths) { book.note($0) })
        }
        let books = ["title", "room", "room.name", "speakers", "speakers.name"].map { observe([$0]) } + [observe([])]
        let typed = logbook()
        let typedToken = sessions(realm).observe(keyPaths: [\Session.title, \Session.room?.name]) { typed.note($0) }
        realm.refresh()
        for (book, _) in books { _ = book.take() }
        _ = typed.take()
        func told(_ block: () throws -> Void) throws -> [Int] {
            try elsewhere(block)
            return books.indices.filter { !books[$0].0.take().isEmpty }
        }
        #expect(try told { try session(1, other).title = "New" } == [0])
        #expect(typed.take() == ["-[] +[] ~[0]"])
        #expect(try told { try session(1, other).price = 11 } == [])
        #expect(try told { other.objects(Room.self)[0].name = "Attic" } == [2])
        #expect(typed.take() == ["-[] +[] ~[0]"])
        #expect(try told { other.objects(Room.self)[0].floor = 3 } == [])
        #expect(try told { try session(1, other).room = nil } == [1, 2])
        #expect(try told { other.objects(Speaker.self)[0].name = "Ada L." } == [4])
        #expect(try told { try session(1, other).speakers.removeAll() } == [3, 4])
        #expect(try told { other.add(Session(9, "New")) } == [0, 1, 2, 3, 4, 5])
        #expect(try told { other.delete(try session(9, other)) } == [0, 1, 2, 3, 4, 5])
        typedToken.invalidate()
        for (_, token) in books { token.invalidate() }
    }

    @Test("Filters and sorts through links follow the linked objects")
    func linkedQueries() throws {
        try other.write {
            let rooms = ["A", "B"].map { other.create(Room.self, value: ["name": $0]) }
            try session(1, other).room = rooms[0]
            try session(2, other).room = rooms[1]
            try session(3, other).room = rooms[0]
        }
        realm.refresh()
        let filtered = logbook()
        let sorted = logbook()
        let tokens = [
            sessions(realm).where { $0.room.name == "A" }.observe { filtered.note($0) },
            sessions(realm).where { $0._id <= 3 }.sorted(byKeyPath: "room.name").observe { sorted.note($0) },
        ]
        realm.refresh()
        #expect(filtered.mirror == ["1", "3"])
        #expect(sorted.mirror == ["1", "3", "2"])
        try elsewhere { other.objects(Room.self).where { $0.name == "A" }[0].name = "C" }
        #expect(filtered.mirror == [])
        #expect(sorted.mirror == ["2", "1", "3"])
        try elsewhere { other.delete(other.objects(Room.self).where { $0.name == "B" }) }
        try elsewhere { other.objects(Room.self)[0].name = "A" }
        #expect(filtered.mirror == ["1", "3"])
        // Missing links come last.
        #expect(sorted.mirror == ["1", "3", "2"])
        for token in tokens { token.invalidate() }
    }

    @Test("A list reports changes to its elements, and its end when its object is deleted")
    func lists() throws {
        try other.write {
            for name in ["a", "b", "c", "d"] { other.create(Speaker.self, value: ["_id": name, "name": name]) }
            for speaker in other.objects(Speaker.self) { try session(1, other).speakers.append(speaker) }
        }
        realm.refresh()
        let book = ChangeLogbook<List<Speaker>> { $0._id }
        let named = ChangeLogbook<List<Speaker>> { $0._id }
        let list = try session(1, realm).speakers
        let token = list.observe { book.note($0) }
        let namedToken = list.observe(keyPaths: ["name"]) { named.note($0) }
        realm.refresh()
        #expect(book.take() == ["initial 4"])
        _ = named.take()
        func speakers() throws -> List<Speaker> { try session(1, other).speakers }
        try elsewhere { try speakers().remove(at: 1) }
        #expect(book.take() == ["-[1] +[] ~[]"])
        try elsewhere {
            try speakers().insert(try #require(other.object(ofType: Speaker.self, forPrimaryKey: "b")), at: 0)
        }
        #expect(book.take() == ["-[] +[0] ~[]"])
        #expect(book.mirror == ["b", "a", "c", "d"])
        _ = named.take()
        try elsewhere { other.object(ofType: Speaker.self, forPrimaryKey: "c")?.name = "C" }
        #expect(book.take() == ["-[] +[] ~[2]"])
        #expect(named.take() == ["-[] +[] ~[2]"])
        try elsewhere { other.object(ofType: Speaker.self, forPrimaryKey: "c")?.sessions.append(try session(2, other)) }
        #expect(book.take() == ["-[] +[] ~[2]"])
        #expect(named.take() == [])
        // A change to another object's list.
        try elsewhere { try session(2, other).speakers.append(other.objects(Speaker.self)[0]) }
        #expect(named.take() == [])
        _ = book.take()
        try elsewhere { other.delete(try #require(other.object(ofType: Speaker.self, forPrimaryKey: "a"))) }
        // The third speaks in a session where "a" also spoke.
        #expect(book.take() == ["-[1] +[] ~[2]"])
        try elsewhere { other.delete(try session(1, other)) }
        #expect(book.take() == ["-[0, 1, 2] +[] ~[]"])
        try elsewhere { other.add(Session(8, "Other")) }
        #expect(book.take() == [])
        token.invalidate()
        namedToken.invalidate()
    }

    @Test("write(withoutNotifying:) skips its tokens for this write, not for others' writes")
    func withoutNotifying() throws {
        let (spared, told) = (logbook(), logbook())
        let token = sessions(realm).observe { spared.note($0) }
        let others = sessions(realm).observe { told.note($0) }
        realm.refresh()
        _ = (spared.take(), told.take())
        try realm.write(withoutNotifying: [token]) { realm.delete(try session(1, realm)) }
        realm.refresh()
        #expect(spared.take() == [])
        #expect(told.take() == ["-[0] +[] ~[]"])
        // Indexes already include the skipped change.
        try elsewhere { other.delete(try session(2, other)) }
        #expect(spared.take() == ["-[0] +[] ~[]"])
        _ = told.take()
        try other.write { other.add(Session(6, "Theirs")) }
        try realm.write(withoutNotifying: [token]) {
            #expect(spared.take() == ["-[] +[3] ~[]"])
            realm.add(Session(7, "Mine"))
        }
        realm.refresh()
        #expect(spared.take() == [])
        #expect(told.take() == ["-[] +[3] ~[]", "-[] +[4] ~[]"])
        // Pending changes are reported first.
        try realm.write { realm.add(Session(8, "Mine")) }
        try realm.write(withoutNotifying: [token]) {
            #expect(spared.take() == ["-[] +[5] ~[]"])
            realm.add(Session(9, "Mine"))
        }
        realm.refresh()
        #expect(spared.take() == [])
        token.invalidate()
        others.invalidate()
    }

    @Test("An invalidated token reports nothing more, not even earlier changes")
    func invalidation() throws {
        let book = logbook()
        var token: NotificationToken? = sessions(realm).observe { book.note($0) }
        token?.invalidate()
        realm.refresh()
        #expect(book.take() == [])
        token = sessions(realm).observe { book.note($0) }
        realm.refresh()
        #expect(book.take() == ["initial 5"])
        try realm.write { realm.add(Session(6, "Sixth")) }
        token = nil
        realm.refresh()
        #expect(book.take() == [])
        withExtendedLifetime(token) {}
    }

    @Test("A callback may write and invalidate tokens, and listeners hear changes in order")
    func callbacks() throws {
        var heard: [String] = []
        var second: NotificationToken?
        let first = sessions(realm).observe { [realm] change in
            guard case .update(let sessions, _, let insertions, _) = change else { return }
            heard.append("first \(insertions) of \(sessions.count)")
            guard sessions.count < 8 else { return }
            try? realm.write { realm.add(Session(sessions.count + 1, "From a callback")) }
            heard.append("wrote")
        }
        second = sessions(realm).observe { change in
            guard case .update(let sessions, _, let insertions, _) = change else { return }
            heard.append("second \(insertions) of \(sessions.count)")
        }
        realm.refresh()
        try elsewhere { other.add(Session(6, "Sixth")) }
        for _ in 0..<4 { realm.refresh() }
        #expect(
            heard == [
                "first [5] of 6", "wrote", "second [5, 6] of 7", "first [6] of 7", "wrote", "second [7] of 8",
                "first [7] of 8",
            ])
        first.invalidate()
        second?.invalidate()
    }

    @Test("After invalidate() or an outside writer, listeners get the difference")
    func invalidatedRealm() throws {
        let book = logbook()
        let token = sessions(realm).observe { book.note($0) }
        realm.refresh()
        _ = book.take()
        realm.invalidate()
        try elsewhere { other.add(Session(6, "Sixth")) }
        #expect(book.take() == ["-[] +[5] ~[]"])
        let outside = try SQLiteConnection(path: realm.core.file.path, durability: .normal)
        try outside.execute("DELETE FROM session WHERE _id = 1")
        realm.refresh()
        // Their changes are unknown, so everything may have changed.
        #expect(book.take() == ["-[0] +[] ~[1, 2, 3, 4, 5]"])
        token.invalidate()
    }

    @Test("Observing within a write transaction stops the program")
    func withinWrite() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(configuration: .init(inMemoryIdentifier: "observing", objectTypes: [Session.self]))
            realm.beginWrite()
            _ = realm.objects(Session.self).observe { _ in }
        }
        #expect(
            String(decoding: result.standardErrorContent, as: UTF8.self).contains(
                "Cannot register notification blocks from within write transactions."))
    }

    @Test("A wrong key path stops the program and names the path")
    func wrongKeyPath() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(configuration: .init(inMemoryIdentifier: "observing", objectTypes: [Session.self]))
            _ = realm.objects(Session.self).observe(keyPaths: ["room.colour"]) { _ in }
        }
        #expect(
            String(decoding: result.standardErrorContent, as: UTF8.self).contains(
                "'room.colour' isn't a key path of Session"))
    }
}
