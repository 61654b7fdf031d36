import Foundation
import Testing

@testable import Tombolo

@Suite("Queries on lists, and distinct")
struct ListQueryTests {
    let folder: TemporaryFolder
    let realm: Realm
    let ada: Person

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(configuration: folder.configuration(types: personClasses))
        let (ada, realm) = (Person(1, "Ada"), realm)
        try realm.write {
            realm.add(Dog("Alone"))
            ada.dogs.append(objectsIn: ["Rex", "Bo", "Rex", "Ace"].map { Dog($0) })
            realm.add(ada)
        }
        self.ada = ada
    }

    @Test("A filtered list keeps the list's order, can be sorted, and follows writes")
    func list() throws {
        #expect(ada.dogs.where { $0.name != "Bo" }.map(\.name) == ["Rex", "Rex", "Ace"])
        #expect(ada.dogs.filter("name BEGINSWITH %@", "R").count == 2)
        let sorted = ada.dogs.sorted(byKeyPath: "name", ascending: false)
        #expect(sorted.map(\.name) == ["Rex", "Rex", "Bo", "Ace"])
        try realm.write { ada.dogs.move(from: 3, to: 0) }
        #expect(ada.dogs.where { $0.name != "Bo" }.map(\.name) == ["Ace", "Rex", "Rex"])
        try realm.write { ada.dogs.remove(at: 1) }
        #expect(sorted.map(\.name) == ["Rex", "Bo", "Ace"] && sorted.count == 3 && sorted.first?.name == "Rex")
    }

    @Test("Distinct keeps the first in the current order, and later filters see only those")
    func distinct() throws {
        let dogs = realm.objects(Dog.self)
        #expect(dogs.distinct(by: ["name"]).map(\.name) == ["Alone", "Rex", "Bo", "Ace"])
        #expect(dogs.sorted(byKeyPath: "name").distinct(by: ["name"]).map(\.name) == ["Ace", "Alone", "Bo", "Rex"])
        #expect(dogs.distinct(by: [\.name]).where { $0.name == "Rex" }.count == 1)
        #expect(ada.dogs.distinct(by: ["name"]).map(\.name) == ["Rex", "Bo", "Ace"])
    }
}
