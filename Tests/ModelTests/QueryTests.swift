import Foundation
import Testing
import TomboloModel

@Suite("Queries become predicates")
struct QueryTests {
    static let seats = PropertyPath("seats")
    private let seats = Self.seats
    private let title = PropertyPath("title")
    private let rating = PropertyPath("rating")
    private let roomName = PropertyPath(["room", "name"])
    private let start = Date(timeIntervalSince1970: 5)
    private let id = ObjectId(high: 1, low: 2)

    /// The block gives this predicate, and it fits the class.
    private func check(
        _ query: (Query<Talk>) -> Query<Bool>, _ expected: Predicate, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let predicate = Query<Talk>.predicate(query)
        #expect(predicate == expected, sourceLocation: location)
        try predicate.check(for: "Talk", in: Schema.of([Talk.self]))
    }

    @Test("Comparisons")
    func comparisons() throws {
        try check({ $0.seats == 3 }, .compare(seats, .equal, .int(3)))
        try check({ $0.seats != 3 }, .compare(seats, .notEqual, .int(3)))
        try check({ $0.seats < 3 }, .compare(seats, .less, .int(3)))
        try check({ $0.seats <= 3 }, .compare(seats, .lessOrEqual, .int(3)))
        try check({ $0.seats > 3 }, .compare(seats, .greater, .int(3)))
        try check({ $0.seats >= 3 }, .compare(seats, .greaterOrEqual, .int(3)))
        try check({ $0.small == 3 }, .compare(PropertyPath("small"), .equal, .int(3)))
        try check({ $0.isPublic }, .compare(PropertyPath("isPublic"), .equal, .bool(true)))
        try check({ !$0.isPublic }, .not(.compare(PropertyPath("isPublic"), .equal, .bool(true))))
        try check({ $0.isPublic == false }, .compare(PropertyPath("isPublic"), .equal, .bool(false)))
    }

    @Test("Booleans, enumerations and optionals")
    func booleans() throws {
        try check({ $0.kind == .breakTime }, .compare(PropertyPath("kind"), .equal, .string("break")))
        try check({ $0.level == .expert }, .compare(PropertyPath("level"), .equal, .int(9)))
        try check({ $0.level == nil }, .compare(PropertyPath("level"), .equal, .null))
        try check({ $0.rating > 0.5 }, .compare(rating, .greater, .double(0.5)))
        try check({ $0.rating != nil }, .compare(rating, .notEqual, .null))
        try check({ $0.startsAt < start }, .compare(PropertyPath("startsAt"), .less, .date(5_000_000)))
        try check({ $0._id == id }, .compare(PropertyPath("_id"), .equal, .objectId(id)))
        try check({ $0.room == nil }, .compare(PropertyPath("room"), .equal, .null))
        try check({ $0.room.name == "Hall" }, .compare(roomName, .equal, .string("Hall")))
    }

    @Test("Links")
    func links() throws {
        try check({ $0.room.floor == nil }, .compare(PropertyPath(["room", "floor"]), .equal, .null))
        try check(
            { $0.room.venue.city == "Ulm" },
            .compare(PropertyPath(["room", "venue", "city"]), .equal, .string("Ulm")))
        try check({ $0.room.venue == nil }, .compare(PropertyPath(["room", "venue"]), .equal, .null))
        try check({ $0.seats.in([1, 2]) }, .isIn(seats, [.int(1), .int(2)]))
        try check({ $0.shortURL.in(["a", nil]) }, .isIn(PropertyPath("shortURL"), [.string("a"), .null]))
    }

    @Test("Membership, ranges and text")
    func membership() throws {
        try check(
            { $0.seats.contains(2...4) },
            .and([.compare(seats, .greaterOrEqual, .int(2)), .compare(seats, .lessOrEqual, .int(4))]))
        try check({ $0.title.contains("x") }, .text(title, .contains, "x", ignoringCase: false))
        try check(
            { $0.title.starts(with: "x", options: .caseInsensitive) },
            .text(title, .beginsWith, "x", ignoringCase: true))
        try check(
            { $0.shortURL.ends(with: "x") },
            .text(PropertyPath("shortURL"), .endsWith, "x", ignoringCase: false))
    }

    @Test("Logic")
    func logic() throws {
        let isPublic = Predicate.compare(PropertyPath("isPublic"), .equal, .bool(true))
        try check(
            { $0.seats > 1 && $0.seats < 5 && $0.isPublic },
            .and([.compare(seats, .greater, .int(1)), .compare(seats, .less, .int(5)), isPublic]))
        try check(
            { ($0.seats > 1 || $0.seats < 0) && !($0.title == "") },
            .and([
                .or([.compare(seats, .greater, .int(1)), .compare(seats, .less, .int(0))]),
                .not(.compare(title, .equal, .string(""))),
            ]))
    }

    @Test("An unmanaged object stands for its primary key")
    func objects() {
        let room = Room()
        let predicate = Query<Talk>.predicate { $0.room == room }
        #expect(predicate == .compare(PropertyPath("room"), .equal, .objectId(room._id)))
    }

    @Test("Conjunction and disjunction fold constants and flatten")
    func folding() {
        let a = Predicate.compare(Self.seats, .equal, .int(1))
        let b = Predicate.compare(Self.seats, .equal, .int(2))
        #expect(Predicate.all([]) == .constant(true))
        #expect(Predicate.any([]) == .constant(false))
        #expect(Predicate.all([.constant(true), a]) == a)
        #expect(Predicate.all([a, .constant(false)]) == .constant(false))
        #expect(Predicate.any([a, .constant(true)]) == .constant(true))
        #expect(Predicate.any([.constant(false), b]) == b)
        #expect(Predicate.all([.and([a, b]), a]) == .and([a, b, a]))
        #expect(Predicate.any([a, .or([b, a])]) == .or([a, b, a]))
    }

    @Test("Paths are in order, and the description reads like a query")
    func description() {
        let predicate = Query<Talk>.predicate { $0.seats > 1 && !$0.room.name.contains("a", options: .caseInsensitive) }
        #expect(predicate.paths == [Self.seats, PropertyPath(["room", "name"])])
        #expect(predicate.description == "(seats > 1) && (!(room.name CONTAINS[c] \"a\"))")
        #expect(Predicate.isIn(Self.seats, [.int(1), .null]).description == "seats IN {1, nil}")
        #expect(Predicate.and([]).description == "TRUEPREDICATE")
    }
}
