import Foundation
import Testing
import TomboloModel

@testable import Tombolo

@Suite("Filtering results with strings and with where")
struct FilterResultsTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(configuration: folder.configuration())
        let titles = ["Émile", "emile", "EMIL", "Zürich", "zurich", "a*b", "100 %"]
        try realm.write {
            let rooms = ["Hall", "Attic"].map { realm.create(Room.self, value: ["name": $0]) }
            for number in 0..<70 {
                let session = Session(number, titles[number % 7], price: number)
                session.rating = number % 3 == 0 ? nil : Double(number % 10) / 4
                session.room = number % 5 == 0 ? nil : rooms[number % 2]
                session.level = number % 2 == 0 ? .beginner : .expert
                realm.add(session)
                if number % 10 == 0 {
                    let speaker = realm.create(Speaker.self, value: ["_id": "s\(number)", "name": titles[number / 10]])
                    speaker.sessions.append(session)
                    session.speakers.append(objectsIn: [speaker, speaker])
                }
            }
        }
    }

    private func keys(_ format: String, _ arguments: Any?...) throws -> [Int] {
        let filter = try Filter(parsing: format, arguments: arguments, for: "Session", in: realm.core.schema)
        return realm.objects(Session.self).filter(filter).map(\._id)
    }

    private func numbers(_ isIncluded: (Int) -> Bool) -> [Int] { (0..<70).filter(isIncluded) }

    @Test("Strings are compared by bytes, or ignoring case and accents on request")
    func text() throws {
        #expect(try keys("title == 'emile'") == numbers { $0 % 7 == 1 })
        #expect(try keys("title ==[c] 'ÉMILE'") == numbers { $0 % 7 == 0 })
        #expect(try keys("title ==[cd] 'ÉMILE'") == numbers { $0 % 7 < 2 })
        #expect(try keys("title !=[cd] 'EMILE'") == numbers { $0 % 7 > 1 })
        #expect(try keys("title BEGINSWITH[cd] 'emil'") == numbers { $0 % 7 < 3 })
        #expect(try keys("title ENDSWITH[d] 'zurich'") == numbers { $0 % 7 == 4 })
        #expect(try keys("title CONTAINS[c] 'ÜR'") == numbers { $0 % 7 == 3 })
        #expect(try keys("title CONTAINS '*'") == numbers { $0 % 7 == 5 })
        #expect(try keys("title CONTAINS %@", "%") == numbers { $0 % 7 == 6 })
        #expect(try keys("title LIKE[c] 'em?l*'") == numbers { $0 % 7 == 1 || $0 % 7 == 2 })
        #expect(try keys("title IN[cd] {'zurich', 'EMIL'}") == numbers { [2, 3, 4].contains($0 % 7) })
        let many = (0..<40_000).map { "no \($0)" } + ["ZÜRICH"]
        #expect(try keys("title IN[c] %@", many) == numbers { $0 % 7 == 3 })
    }

    @Test("String and block queries find the same objects for values of every kind")
    func both() throws {
        let sessions = realm.objects(Session.self)
        #expect(sessions.filter("price >= 10 AND price < %d", 20).map(\._id) == Array(10..<20))
        #expect(sessions.where { $0.price.contains(10..<20) }.map(\._id) == Array(10..<20))
        #expect(sessions.filter("rating == nil").count == sessions.where { $0.rating == nil }.count)
        #expect(sessions.filter("rating == %@", nil).count == 24)
        #expect(sessions.filter("level == %@", Level.expert).map(\._id) == numbers { $0 % 2 == 1 })
        #expect(sessions.filter("level IN %@", [Level.expert]).count == 35)
        #expect(sessions.filter("_id IN %@", Set([3, 4])).map(\._id) == [3, 4])
        #expect(sessions.filter("%K > %@ AND room.name == %@", "price", 60, "Attic").map(\._id) == [61, 63, 67, 69])
        let room = try #require(sessions[1].room)
        #expect(sessions.filter("room == %@", room).count == sessions.where { $0.room == room }.count)
        #expect(sessions.filter("room == nil").map(\._id) == numbers { $0 % 5 == 0 })
        #expect(sessions.filter("price > 50").filter("price < 53").map(\._id) == [51, 52])
        #expect(sessions.filter("price == _id").count == 70)
        #expect(sessions.index(matching: "price > %@", 41) == 42)
        #expect(sessions.index(matching: "price > 1000") == nil)
        #expect(sessions.index(matching: { $0.price > 41 }) == 42)
    }

    @Test("Queries look into lists")
    func lists() throws {
        let sessions = realm.objects(Session.self)
        let tens = numbers { $0 % 10 == 0 }
        #expect(sessions.filter("speakers.@count == 2").map(\._id) == tens)
        #expect(sessions.where { $0.speakers.count > 0 }.map(\._id) == tens)
        #expect(sessions.where { $0.speakers.name == "Zürich" }.map(\._id) == [30])
        #expect(sessions.filter("ANY speakers.name BEGINSWITH[cd] 'emil'").map(\._id) == [0, 10, 20])
        #expect(sessions.filter("NONE speakers.name BEGINSWITH[cd] 'emil'").count == 67)
        #expect(sessions.filter("ALL speakers.name == 'Zürich'").count == 64)
        #expect(sessions.filter("ANY speakers.sessions.price > 40").map(\._id) == [50, 60])
        #expect(
            sessions.filter("SUBQUERY(speakers, $s, $s.name == 'emile' OR $s._id == 's0').@count > 1").map(\._id) == [
                0, 10,
            ])
        let speaker = try #require(realm.object(ofType: Speaker.self, forPrimaryKey: "s20"))
        #expect(sessions.filter("%@ IN speakers", speaker).map(\._id) == [20])
        #expect(realm.objects(Speaker.self).filter("sessions.@max.price > 30").map(\._id) == ["s40", "s50", "s60"])
        // Changes in another class are seen.
        let many = sessions.filter("ANY speakers.name == 'new'")
        #expect(many.isEmpty)
        try realm.write { speaker.name = "new" }
        #expect(many.map(\._id) == [20])
    }

    @Test("An object without a primary key is compared by identity")
    func withoutKey() throws {
        let realm = try Realm(configuration: folder.configuration(types: [Pin.self, Board.self]))
        try realm.write {
            let pins = (0..<4).map { number in realm.create(Pin.self, value: ["number": number]) }
            for number in 0..<3 {
                let board = Board()
                board.first = pins[number]
                board.pins.append(objectsIn: [pins[number], pins[number + 1]])
                board.sizes.append(objectsIn: [number, 10 * number])
                board.frame = Frame()
                board.frame?.width = number
                realm.add(board)
            }
        }
        let pin = realm.objects(Pin.self)[1]
        let boards = realm.objects(Board.self)
        #expect(boards.filter("first == %@", pin).count == 1)
        #expect(boards.where { $0.first == pin }.first?.pins.first?.number == 1)
        #expect(boards.filter("%@ IN pins", pin).count == 2)
        #expect(boards.filter("ANY pins.number == 3").count == 1)
        #expect(boards.where { $0.sizes.max > 5 }.count == 2)
        #expect(boards.filter("frame.width >= 1 AND sizes.@sum > 20").count == 1)
        #expect(realm.objects(Pin.self).filter("boards.@count == 2").map(\.number) == [1, 2])
        #expect(realm.objects(Pin.self).where { $0.boards.frame.width == 0 }.map(\.number) == [0, 1])
    }

    @Test("A mistake in a predicate stops the program and shows where the mistake is")
    func mistakes() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let folder = try TemporaryFolder()
            let realm = try Realm(configuration: folder.configuration())
            _ = realm.objects(Session.self).filter("price > 5 AND titel == 'x'")
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("Session has no property 'titel'; did you mean 'title'?"))
        #expect(text.contains("    price > 5 AND titel == 'x'\n                  ^"))
    }

    @Test("A subscription whose query reaches beyond one object's properties is refused with the reason")
    func subscriptions() throws {
        let subscription = QuerySubscription<Session> { $0.speakers.name == "x" }
        let error = #expect(throws: ValueError.self) { try subscription.predicate(in: realm.core.schema) }
        #expect(error?.message.contains("a subscription can only compare properties of one object") == true)
        let simple = QuerySubscription<Session>(where: "price BETWEEN {1, %@} AND title BEGINSWITH[c] 'x'", 5)
        #expect(
            try simple.predicate(in: realm.core.schema)
                == .and([
                    .and([
                        .compare(PropertyPath("price"), .greaterOrEqual, .int(1)),
                        .compare(PropertyPath("price"), .lessOrEqual, .int(5)),
                    ]), .text(PropertyPath("title"), .beginsWith, "x", ignoringCase: true),
                ]))
    }
}

private final class Pin: Object {
    @Persisted var number: Int
    @Persisted(originProperty: "pins") var boards: LinkingObjects<Board>
}

private final class Frame: EmbeddedObject {
    @Persisted var width: Int
}

private final class Board: Object {
    @Persisted var first: Pin?
    @Persisted var pins: List<Pin>
    @Persisted var sizes: List<Int>
    @Persisted var frame: Frame?
}
