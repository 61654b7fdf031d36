import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSQLiteStore

@testable import Tombolo

@Suite("Embedded objects")
struct EmbeddedObjectTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(configuration: folder.configuration(types: personClasses))
    }

    private func fresh() throws -> Realm { try Realm.fresh(realm.configuration) }

    @Test("An embedded object round-trips with everything inside it")
    func roundTrip() throws {
        try realm.write {
            let person = Person(1, "Ada")
            person.home = Address("Main St", "London")
            person.home?.spot = Spot(value: ["x": 1.5, "y": -2])
            person.home?.codes.append(objectsIn: [3, 1, 2])
            person.home?.visitors.append(Dog("Rex"))
            person.home?.rooms.append(RoomInfo(value: ["name": "Hall", "size": 40]))
            realm.add(person)
            realm.add(Person(2, "Bob"))
        }
        let ada = try #require(try fresh().object(ofType: Person.self, forPrimaryKey: 1))
        #expect(ada.home?.street == "Main St" && ada.home?.city == "London")
        #expect(ada.home?.spot?.x == 1.5 && ada.home?.spot?.y == -2 && ada.home?.spot?.note == nil)
        #expect(ada.home.map { Array($0.codes) } == [3, 1, 2])
        #expect(ada.home?.visitors.map(\.name) == ["Rex"])
        #expect(ada.home?.rooms.map(\.size) == [40])
        #expect(try fresh().object(ofType: Person.self, forPrimaryKey: 2)?.home == nil)
    }

    @Test("An assigned object becomes managed and its properties are stored")
    func becomesManaged() throws {
        let person = Person(1)
        let address = Address("A")
        try realm.write {
            realm.add(person)
            person.home = address
            #expect(address.realm == realm)
            address.city = "Paris"
            address.spot = Spot(value: [1, 2])
            address.codes.append(7)
            address.rooms.append(RoomInfo(value: ["kitchen", 9]))
        }
        #expect(person.home == address)
        #expect(person.home?.city == "Paris" && person.home?.spot?.y == 2)
        let other = try #require(try fresh().object(ofType: Person.self, forPrimaryKey: 1)?.home)
        #expect(other.city == "Paris" && Array(other.codes) == [7] && other.rooms[0].name == "kitchen")
    }

    @Test("Replacing or removing an embedded object invalidates it and its lists' elements")
    func replacement() throws {
        let person = Person(1)
        let first = Address("First")
        first.rooms.append(RoomInfo(value: ["Hall", 1]))
        person.home = first
        try realm.write { realm.add(person) }
        let room = first.rooms[0]
        try realm.write {
            person.home = Address("Second")
            #expect(first.isInvalidated)
            #expect(room.isInvalidated)
            #expect(person.home?.street == "Second" && person.home?.rooms.isEmpty == true)
        }
        let second = try #require(person.home)
        try realm.write { person.home = nil }
        #expect(second.isInvalidated && person.home == nil)
        try realm.write { person.home = Address("Third") }
        #expect(second.isInvalidated)
        let third = try #require(person.home)
        try realm.write { realm.delete(person) }
        #expect(third.isInvalidated)
        #expect(try realm.core.connection.integer("SELECT count(*) FROM person_home_rooms") == 0)
    }

    @Test("Assigning a property the object it already has changes nothing")
    func selfAssignment() throws {
        let person = Person(1)
        person.home = Address("First")
        try realm.write { realm.add(person) }
        let home = try #require(person.home)
        try realm.write { person.home = home }
        #expect(!home.isInvalidated && home.street == "First")
    }

    @Test("An update with .modified changes an embedded object in place, .all replaces it")
    func policies() throws {
        try realm.write {
            realm.create(
                Person.self,
                value: [
                    "_id": 1,
                    "home": ["street": "A", "city": "X", "rooms": [["Hall", 1], ["Bath", 2]]] as [String: Any],
                ])
        }
        let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        let home = try #require(person.home)
        try realm.write {
            realm.create(Person.self, value: ["_id": 1, "home": ["street": "B"]], update: .modified)
        }
        #expect(!home.isInvalidated)
        #expect(home.street == "B" && home.city == "X" && home.rooms.count == 2)
        try realm.write { realm.create(Person.self, value: ["_id": 1, "home": ["street": "C"]], update: .all) }
        #expect(home.isInvalidated)
        #expect(person.home?.street == "C" && person.home?.city == "Nowhere" && person.home?.rooms.isEmpty == true)
        let held = try #require(person.home)
        let unmanaged = Person(1, "New")
        unmanaged.home = Address("D")
        try realm.write { realm.add(unmanaged, update: .modified) }
        #expect(!held.isInvalidated && held.street == "D")
        try realm.write { realm.create(Person.self, value: ["_id": 1, "home": NSNull()], update: .modified) }
        #expect(person.home == nil)
    }

    @Test("Elements of a list of embedded objects belong to that list")
    func lists() throws {
        let person = Person(1)
        person.others.append(objectsIn: [Address("A"), Address("B"), Address("C")])
        person.others[1].rooms.append(objectsIn: [RoomInfo(value: ["x", 1]), RoomInfo(value: ["y", 2])])
        try realm.write { realm.add(person) }
        #expect(person.others.map(\.street) == ["A", "B", "C"])
        #expect(person.others[1].rooms.map(\.name) == ["x", "y"])
        let second = person.others[1]
        let room = second.rooms[0]
        try realm.write {
            person.others.move(from: 1, to: 0)
            #expect(person.others.map(\.street) == ["B", "A", "C"])
            #expect(!second.isInvalidated && second.rooms.count == 2)
            second.spot = Spot(value: [3, 4])
            second.rooms.append(RoomInfo(value: ["z", 3]))
            person.others.remove(at: 0)
            #expect(second.isInvalidated && room.isInvalidated)
            person.others[0] = Address("A2")
        }
        #expect(person.others.map(\.street) == ["A2", "C"])
        #expect(try realm.core.connection.integer("SELECT count(*) FROM person_others_rooms") == 0)
        let other = try #require(try fresh().object(ofType: Person.self, forPrimaryKey: 1))
        #expect(other.others.map(\.street) == ["A2", "C"])
        try realm.write { realm.delete(person.others[0]) }
        #expect(person.others.map(\.street) == ["C"])
    }

    @Test("In a synced file, erasing an element erases its nested lists, and uploads name every row")
    func synced() throws {
        let folder = try TemporaryFolder()
        let classes: [Object.Type] = [Stroke.self]
        let realm = try Realm(configuration: folder.configuration(synced: true, types: classes))
        let stroke = Stroke()
        stroke.parts.append(objectsIn: [StrokePart(value: ["a"]), StrokePart(value: ["b"])])
        stroke.parts[0].marks.append(Mark(value: [1]))
        try realm.write { realm.add(stroke) }
        try realm.write { stroke.parts.remove(at: 0) }
        #expect(stroke.parts.map(\.name) == ["b"])
        #expect(try realm.core.connection.integer("SELECT count(*) FROM stroke_parts_marks") == 0)
        let writes = try ChangesetQueue(realm.core.file).changesets(after: 0).flatMap(\.instructions)
        #expect(writes.filter { if case .erase = $0 { true } else { false } }.count == 2)
    }

    @Test("A second parent stops the program")
    func secondParent() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(configuration: .init(inMemoryIdentifier: "parents", objectTypes: personClasses))
            let person = Person(1)
            person.home = Address("A")
            try realm.write { realm.add(person) }
            try realm.write { person.others.append(person.home!) }
        }
        #expect(
            String(decoding: result.standardErrorContent, as: UTF8.self)
                .contains("Can't set link to existing managed embedded object"))
    }
}

class Stroke: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var parts: List<StrokePart>
}

class StrokePart: EmbeddedObject {
    @Persisted var name: String
    @Persisted var marks: List<Mark>
}

class Mark: EmbeddedObject {
    /// The library must not take these names.
    @Persisted var value: Int
    @Persisted var stored: Bool
    @Persisted var embedded: Bool
    @Persisted var place: String
}
