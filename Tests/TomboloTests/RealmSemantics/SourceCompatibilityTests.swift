import Foundation
import RealmSwift
import Testing

/// A struct that gets `==` without any code.
struct Stay: CustomPersistable {
    let days: Int

    init(persistedValue: Int) { days = persistedValue }
    var persistableValue: Int { days }
}

class Trip: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var stay: Stay
    @Persisted var start: Date
    @Persisted var end: Date?
    @Persisted var begun = Date(timeIntervalSince1970: 7)
    @Persisted var stops: List<String>
    @Persisted var costs: List<Decimal128>
    @Persisted var cost: Decimal128
    @Persisted var legs: List<Leg>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Leg: EmbeddedObject {
    @Persisted var from: String
    @Persisted var tickets: List<Ticket>
    @Persisted(originProperty: "legs") var trip: LinkingObjects<Trip>
}

class Ticket: EmbeddedObject {
    @Persisted var number: Int
    @Persisted(originProperty: "tickets") var leg: LinkingObjects<Leg>
}

private enum Before {
    class Trip: Object {
        @Persisted(primaryKey: true) var id: Int

        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

private enum After {
    class Trip: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var start: Date
        @Persisted var begun = Date(timeIntervalSince1970: 7)

        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

/// Code as written by Realm's users, with its module and Foundation imported.
@Suite("Realm semantics: source code of Realm apps")
struct SourceCompatibilityTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func realm() throws -> Realm { try Realm(configuration: folder.configuration(types: [Trip.self])) }

    @Test("RealmSwift.SortDescriptor is Realm's even where Foundation is imported")
    func sortDescriptor() throws {
        let realm = try realm()
        try realm.write { for id in 0..<3 { realm.create(Trip.self, value: ["id": id]) } }
        let backwards: [RealmSwift.SortDescriptor] = [RealmSwift.SortDescriptor(keyPath: "id", ascending: false)]
        #expect(realm.objects(Trip.self).sorted(by: backwards).map(\.id) == [2, 1, 0])
    }

    @Test("A projected struct gets Hashable synthesised")
    func projections() throws {
        let realm = try realm()
        try realm.write { realm.create(Trip.self, value: ["id": 1, "stay": 3]) }
        let stay = try #require(realm.objects(Trip.self).first?.stay)
        #expect(stay == Stay(persistedValue: 3) && Set([stay, Stay(persistedValue: 3)]).count == 1)
        func isHashable(_: (some RealmCollectionValue).Type) -> Bool { true }
        #expect(isHashable(Stay?.self) && isHashable(Trip.self) && isHashable(Leg.self) && isHashable(Int?.self))
    }

    @Test("Embedded classes may declare LinkingObjects, also to embedded classes")
    func embeddedOrigins() throws {
        let realm = try realm()
        try realm.write {
            realm.create(Trip.self, value: ["id": 1, "legs": [["from": "Rome", "tickets": [["number": 4]]]]])
        }
        #expect(realm.objects(Trip.self).first?.legs.first?.tickets.first?.number == 4)
        #expect(Leg().trip.isEmpty && Ticket().leg.isEmpty)
    }

    // MARK: Dates

    @Test("A required date without a declared value is the time it was first read, and stays")
    func present() throws {
        let before = Date().microsecondsSince1970
        let trip = Trip()
        let start = trip.start
        #expect((before...Date().microsecondsSince1970).contains(start.microsecondsSince1970) && trip.start == start)
        #expect(trip.begun == Date(timeIntervalSince1970: 7) && trip.end == nil)
        let realm = try realm()
        try realm.write {
            realm.add(trip)
            realm.create(Trip.self, value: ["id": 2])
        }
        #expect(trip.start == start)
        let other = try #require(realm.object(ofType: Trip.self, forPrimaryKey: 2))
        #expect(other.start >= start && other.start == other.start)
    }

    @Test("A date added by a migration is 1970 unless the class declares a value")
    func migratedDate() throws {
        do {
            let realm = try Realm(configuration: folder.release(0, [Before.Trip.self]))
            try realm.write { realm.create(Before.Trip.self, value: ["id": 1]) }
        }
        let realm = try Realm(configuration: folder.release(1, [After.Trip.self]))
        let trip = try #require(realm.objects(After.Trip.self).first)
        #expect(trip.start == Date(timeIntervalSince1970: 0) && trip.begun == Date(timeIntervalSince1970: 7))
    }

    // MARK: Lists

    @Test("Assigning to a range of a list replaces it, whatever the number of elements", arguments: [false, true])
    func slices(isManaged: Bool) throws {
        let (trip, other) = (Trip(value: ["id": 1]), Trip(value: ["id": 2]))
        let realm = try realm()
        realm.beginWrite()
        defer { realm.cancelWrite() }
        if isManaged { realm.add([trip, other]) }
        trip.stops.append(objectsIn: ["a", "b", "c", "d", "e"])
        other.stops.append(objectsIn: ["x", "y", "z"])
        trip.stops[1..<4] = other.stops[0..<2]
        #expect(Array(trip.stops) == ["a", "x", "y", "e"] && other.stops.count == 3)
        trip.stops[0..<1] = other.stops[0...]
        #expect(Array(trip.stops) == ["x", "y", "z", "x", "y", "e"])
        trip.stops[2..<2] = trip.stops[4..<6]
        #expect(Array(trip.stops) == ["x", "y", "y", "e", "z", "x", "y", "e"])
        trip.stops[0..<8].sort()
        #expect(Array(trip.stops) == ["e", "e", "x", "x", "y", "y", "y", "z"])
        trip.stops[1...] = other.stops[0..<0]
        #expect(Array(trip.stops) == ["e"])
        trip.stops.replaceSubrange(0..<1, with: trip.stops)
        #expect(Array(trip.stops) == ["e"])
    }

    @Test("isEqual on a list means ==")
    func isEqual() throws {
        let (trip, other) = (Trip(value: ["id": 1]), Trip(value: ["id": 2]))
        #expect(trip.stops.isEqual(other.stops) && !trip.stops.isEqual(nil) && !trip.stops.isEqual([String]()))
        let realm = try realm()
        try realm.write { realm.add([trip, other]) }
        let same = realm.object(ofType: Trip.self, forPrimaryKey: 1)?.stops
        #expect(trip.stops.isEqual(same) && !trip.stops.isEqual(other.stops) && !trip.stops.isEqual(trip.costs))
    }

    // MARK: Decimals

    @Test("Sums and averages of decimals have no trailing zeros")
    func decimals() throws {
        let costs: [Decimal128] = ["1.10", "2.90", "0.00", "6.00"]
        let trip = Trip(value: ["id": 1, "costs": costs] as [String: Any])
        #expect(trip.costs.sum().description == "10")
        let realm = try realm()
        try realm.write {
            realm.add(trip)
            for (number, cost) in costs.enumerated() {
                realm.create(Trip.self, value: ["id": number + 2, "cost": cost] as [String: Any])
            }
        }
        let trips = realm.objects(Trip.self)
        let average: Decimal128? = trips.where { $0.id > 1 }.average(ofProperty: "cost")
        #expect(trips.sum(of: \.cost).description == "10" && trip.costs.sum().description == "10")
        #expect(average?.description == "2.5")
        #expect(trips.where { $0.id < 4 }.sum(of: \.cost).description == "4")
        #expect(trips.where { $0.id < 3 }.sum(of: \.cost).description == "1.1")
    }

    // MARK: Realms

    @Test("Releasing a Realm in a write transaction warns on stderr and undoes the transaction")
    func letGo() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [path = folder.url.path as String] in
            let configuration = Realm.Configuration(
                fileURL: URL(fileURLWithPath: path).appending(path: "trips.sqlite"), objectTypes: [Trip.self])
            func begin() throws {
                let realm = try Realm(configuration: configuration)
                realm.beginWrite()
                realm.create(Trip.self, value: ["id": 1])
            }
            try begin()
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(Trip.self).isEmpty)
            try realm.write { realm.create(Trip.self, value: ["id": 2]) }
            realm.beginWrite()
            realm.cancelWrite()
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.components(separatedBy: "WARNING: The last reference to the Realm at").count == 2, "\(text)")
        #expect(text.contains("trips.sqlite' was released in a write transaction"))
    }
}
