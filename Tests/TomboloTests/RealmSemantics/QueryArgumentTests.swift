import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: arguments of queries")
struct QueryArgumentTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try folder.semanticRealm()
        let citizen = Citizen(1, "Ada", age: 1)
        citizen.isActive = true
        citizen.height = 1
        citizen.favourite = Pet("Rex")
        citizen.pets.append(Pet("Bo"))
        try realm.write { realm.add(citizen) }
    }

    private func count(_ format: String, _ argument: Any?) -> Int {
        realm.objects(Citizen.self).filter(format, argument).count
    }

    @Test("No link equals an unmanaged object")
    func unmanagedObjects() {
        #expect(count("favourite == %@", Pet("Rex")) == 0 && count("favourite != %@", Pet("Rex")) == 1)
        #expect(
            count("ANY pets == %@", Pet("Bo")) == 0 && count("ANY pets != %@", Pet("Bo")) == 1
                && count("%@ IN pets", Pet()) == 0)
        #expect(realm.objects(Citizen.self).where { $0.favourite == Pet() || $0.pets.contains(Pet()) }.isEmpty)
    }

    @Test("NSNumber keeps its kind: Bool, integer or fraction")
    func numbers() {
        #expect(count("isActive == %@", NSNumber(value: true)) == 1 && count("isActive == %@", true) == 1)
        #expect(count("age == %@", NSNumber(value: 1)) == 1 && count("height == %@", NSNumber(value: 1.0)) == 1)
        #expect(count("isActive IN %@", [NSNumber(value: false), NSNumber(value: true)]) == 1)
        #expect(count("age IN %@", [1 as Int8, 2]) == 1 && count("height == %@", Float(1)) == 1)
    }
}
