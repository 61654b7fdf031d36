import Foundation
import Testing
import TomboloModel
import TomboloSQLiteStore

@testable import Tombolo

@Suite("Results")
struct ResultsTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(configuration: folder.configuration())
        let names = ["Zürich", "amsterdam", "Oslo", "Österreich", "", "Berlin"]
        try realm.write {
            let rooms = names.map { name in realm.create(Room.self, value: ["name": name]) }
            for number in 0..<1_000 {
                let session = Session(number, "\(names[number % 5]) \(number % 7)", price: number * 37 % 500)
                session.rating = number % 3 == 0 ? nil : Double(number % 10) / 4
                session.isOpen = number % 2 == 0
                session.room = number % 4 == 0 ? nil : rooms[number % 6]
                realm.add(session)
            }
        }
    }

    /// Runs plain SQL on the same file, through a separate connection.
    private func keys(_ sql: String) throws -> [Int] {
        let connection = try SQLiteConnection(path: realm.core.file.path, durability: .normal)
        let statement = try connection.statement(sql)
        var keys: [Int] = []
        while try statement.step() { keys.append(Int(statement.integer(at: 0))) }
        return keys
    }

    @Test("Results equal those of handwritten SQL")
    func equalsSQL() throws {
        let all = realm.objects(Session.self)
        let queries: [(Results<Session>, String)] = [
            (all, "SELECT _id FROM session ORDER BY rowid"),
            (
                all.where { $0.price < 100 && $0.isOpen },
                "SELECT _id FROM session WHERE price < 100 AND is_open = 1 ORDER BY rowid"
            ),
            (all.where { $0.rating == nil }, "SELECT _id FROM session WHERE rating IS NULL ORDER BY rowid"),
            (
                all.where { $0.rating > 1.5 || $0.title == "Oslo 2" },
                "SELECT _id FROM session WHERE rating > 1.5 OR title = 'Oslo 2' ORDER BY rowid"
            ),
            (
                all.where { !($0.rating > 1.5) },
                "SELECT _id FROM session WHERE NOT coalesce(rating > 1.5, 0) ORDER BY rowid"
            ),
            (
                all.where { $0.room.name == "Oslo" },
                "SELECT s._id FROM session s JOIN room r ON r._id = s.room WHERE r.name = 'Oslo' ORDER BY s.rowid"
            ),
            (all.where { $0.title.starts(with: "Z") }, "SELECT _id FROM session WHERE title GLOB 'Z*' ORDER BY rowid"),
            (
                all.sorted(byKeyPath: "price", ascending: false),
                "SELECT _id FROM session ORDER BY price DESC, rowid"
            ),
            (
                all.where { $0.price >= 250 }.sorted(by: \.rating),
                "SELECT _id FROM session WHERE price >= 250 ORDER BY rating, rowid"
            ),
            (
                all.sorted(by: [
                    SortDescriptor(keyPath: "room.name"), SortDescriptor(keyPath: "price", ascending: false),
                ]),
                "SELECT s._id FROM session s LEFT JOIN room r ON r._id = s.room ORDER BY r._id IS NULL, r.name, price DESC, s.rowid"
            ),
        ]
        for (results, sql) in queries {
            let expected = try keys(sql)
            #expect(results.map(\._id) == expected, "\(sql)")
            #expect(results.count == expected.count, "\(sql)")
            #expect(results.first?._id == expected.first, "\(sql)")
            #expect(results.last?._id == expected.last, "\(sql)")
            #expect((0..<results.count).map { results[$0]._id } == expected, "\(sql)")
        }
        let session = all.where { $0.room != nil }[0]
        #expect(all.where { $0.room == session.room }.contains(session))
    }

    @Test("Hostile input in a query stays data")
    func hostile() throws {
        let text = "'; DROP TABLE session; --\"%_\\"
        try realm.write { realm.add(Session(5_000, text)) }
        #expect(realm.objects(Session.self).where { $0.title == text }.map(\._id) == [5_000])
        #expect(realm.objects(Session.self).where { $0.title.contains(text) }.count == 1)
    }

    @Test("Literals that no property can hold match nothing, and everything is unequal to them")
    func impossibleLiterals() throws {
        let sessions = realm.objects(Session.self)
        let all = sessions.count
        #expect(sessions.where { $0.title.contains("\0") }.isEmpty)
        #expect(sessions.where { $0.title == "a\0" }.isEmpty)
        #expect(sessions.where { $0.title != "a\0" }.count == all)
        #expect(
            sessions.where { $0.title.in(["Oslo 0", "\0"]) }.count == sessions.where { $0.title == "Oslo 0" }.count)
        #expect(sessions.where { $0.rating < .nan }.isEmpty)
        #expect(sessions.where { $0.rating > .nan }.isEmpty)
        #expect(sessions.where { $0.rating != .nan }.count == all)
        #expect(sessions.where { !($0.rating == .nan) && $0._id == 1 }.count == 1)
        #expect(sessions.where { $0.room.name == "\0" }.isEmpty)
        #expect(realm.object(ofType: Speaker.self, forPrimaryKey: "a\0") == nil)
    }

    @Test("IN takes lists of any length, several per query, in read-only files too")
    func longLists() throws {
        var configuration = realm.configuration
        configuration.fileURL = configuration.fileURL?.appendingPathExtension("copy")
        try realm.writeCopy(configuration: configuration)
        configuration.readOnly = true
        let numbers = Array(-300_000..<500)
        let titles = (0..<40_000).map { "title \($0)" } + ["Oslo 0"]
        for realm in [realm, try Realm.fresh(configuration)] {
            let sessions = realm.objects(Session.self)
            #expect(sessions.where { $0._id.in(numbers) }.count == 500)
            #expect(sessions.where { !$0._id.in(numbers) }.count == 500)
            #expect(
                sessions.where { $0._id.in(numbers) && $0.title.in(titles) }.count
                    == sessions.where { $0._id < 500 && $0.title == "Oslo 0" }.count)
            #expect(
                sessions.where { $0._id.in(numbers) || $0.title.in(titles) }.count
                    == sessions.where { $0._id < 500 || $0.title == "Oslo 0" }.count)
        }
        try realm.write {
            realm.add(Session(1_000, "title 7"))
            #expect(realm.objects(Session.self).where { $0.title.in(titles) && $0._id >= 1_000 }.count == 1)
        }
    }

    @Test("Results are live during and after a write transaction")
    func live() throws {
        let cheap = realm.objects(Session.self).where { $0.price < 100 }
        let count = cheap.count
        let first = cheap[0]
        try realm.write {
            first.price = 900
            #expect(cheap.count == count - 1)
            #expect(cheap.first != first)
            realm.add(Session(2_000, "new", price: 1))
            #expect(cheap.count == count)
            #expect(cheap.last?._id == 2_000)
        }
        #expect(cheap.count == count)
        #expect(realm.objects(Session.self).sorted(by: \.price).last == first)
        #expect(realm.objects(Session.self).index(of: first) == first._id)
    }

    @Test("Objects may be changed and deleted while iterating")
    func deletingWhileIterating() throws {
        let open = realm.objects(Session.self).where { $0.isOpen }
        try realm.write {
            var seen = 0
            for session in open {
                seen += 1
                if session._id % 4 == 0 { realm.delete(session) } else { session.isOpen = false }
            }
            #expect(seen == 500)
        }
        #expect(open.isEmpty)
        #expect(realm.objects(Session.self).count == 750)
        try realm.write {
            var seen = 0
            for session in realm.objects(Session.self) {
                seen += 1
                if seen == 1 { realm.delete(realm.objects(Session.self).where { $0.price > 250 && $0._id != 1 }) }
                if !session.isInvalidated { session.price += 1 }
            }
            #expect(seen < 750)
        }
    }

    @Test("Iterating results doesn't retain the objects")
    func memory() throws {
        weak var first: Session?
        var count = 0
        for session in realm.objects(Session.self) {
            if count == 0 { first = session }
            count += 1
        }
        #expect(count == 1_000)
        #expect(first == nil)
    }

    @Test("Two instances of one object are equal, and show each other's changes")
    func identity() throws {
        let one = try #require(realm.object(ofType: Session.self, forPrimaryKey: 7))
        let same = realm.objects(Session.self).where { $0._id == 7 }[0]
        #expect(one == same)
        #expect(one.isSameObject(as: same))
        #expect(Set([one, same]).count == 1)
        #expect(one != realm.objects(Session.self)[8])
        try realm.write {
            same.title = "Seven"
            #expect(one.title == "Seven")
            one.price = 77
            #expect(same.price == 77)
            realm.delete(one)
            #expect(same.isInvalidated)
        }
        #expect(one.isInvalidated && same.isInvalidated)
    }

    @Test("An object kept from a loop, strongly or weakly, stays that object")
    func keptObjects() throws {
        var kept: [Session] = []
        weak var weakly: Session?
        var lists: [List<Speaker>] = []
        for session in realm.objects(Session.self).sorted(byKeyPath: "_id") {
            if session._id % 100 == 3 { kept.append(session) }
            if session._id == 5 { lists.append(session.speakers) }
            if session._id == 7 { weakly = session }
            if session._id == 8 { #expect(weakly == nil || weakly?._id == 7) }
        }
        #expect(kept.map(\._id) == (0..<10).map { $0 * 100 + 3 })
        let session = try #require(realm.object(ofType: Session.self, forPrimaryKey: 5))
        try realm.write { session.speakers.append(Speaker(value: ["_id": "five"])) }
        #expect(lists[0].map(\._id) == ["five"])
    }

    @Test("A loop visits the objects that existed when it began, whatever it writes")
    func snapshots() throws {
        let other = try Realm.fresh(realm.configuration)
        var seen = 0
        for session in realm.objects(Session.self) {
            if seen == 300 {
                try other.write { other.delete(other.objects(Session.self).where { $0._id >= 600 }) }
                realm.refresh()
            }
            if seen == 400 { try realm.write { realm.add(Session(9_999, "late")) } }
            #expect(session._id == seen)
            seen += 1
        }
        #expect(seen == 600)
        try realm.write {
            for session in realm.objects(Session.self) { session.price = session.price &+ session._id }
            for session in realm.objects(Session.self) where session._id < 9_999 {
                realm.add(Session(20_000 + session._id, ""))
            }
        }
        #expect(realm.objects(Session.self).count == 1_201)
        #expect(realm.object(ofType: Session.self, forPrimaryKey: 500)?.price == 500 * 37 % 500 + 500)
    }

    @Test("Aggregates equal those of SQL and skip nil")
    func aggregates() throws {
        let open = realm.objects(Session.self).where { $0.isOpen }
        let expected = try keys("SELECT sum(price), max(price) FROM session WHERE is_open")[0]
        #expect(open.sum(ofProperty: "price") == expected)
        #expect(open.min(ofProperty: "price") == open.map(\.price).min())
        #expect(open.max(ofProperty: "price") == open.map(\.price).max())
        let ratings = open.compactMap(\.rating)
        let average: Double? = open.average(ofProperty: "rating")
        #expect(abs((average ?? 0) - ratings.reduce(0, +) / Double(ratings.count)) < 1e-9)
        #expect(open.max(ofProperty: "startsAt") == Date?.none)
        let none = open.where { $0.price > 10_000 }
        #expect(none.sum(ofProperty: "price") == 0)
        #expect(none.min(ofProperty: "price") == Int?.none)
    }

    @Test("Deleting a query's results leaves the rest, and every Realm sees it")
    func bulkDelete() throws {
        let rooms = realm.objects(Room.self)
        let held = rooms[0]
        let sessions = realm.objects(Session.self)
        try realm.write { realm.delete(sessions.where { $0.price < 250 }) }
        #expect(sessions.count == sessions.map { $0 }.count)
        #expect(sessions.allSatisfy { $0.price >= 250 })
        try realm.write {
            realm.delete(rooms)
            #expect(held.isInvalidated)
            #expect(sessions.allSatisfy { $0.room == nil })
        }
        #expect(rooms.isEmpty)
    }
}
