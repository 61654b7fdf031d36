import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: equality, freezing and generic use of collections")
struct CollectionIdentityTests {
    let folder: TemporaryFolder
    let realm: Realm
    let ada = Citizen(1, "Ada")

    init() throws {
        folder = try TemporaryFolder()
        realm = try folder.semanticRealm()
        ada.pets.append(objectsIn: [Pet("Rex", age: 2), Pet("Bo", age: 2)])
        ada.scores.append(objectsIn: [1, 2, 3])
        let (realm, ada) = (realm, ada)
        try realm.write { realm.add(ada) }
    }

    @Test("A managed list equals only itself; unmanaged lists are equal by elements")
    func equality() throws {
        let again = try #require(realm.object(ofType: Citizen.self, forPrimaryKey: 1))
        #expect(ada.scores == again.scores && ada.pets == again.pets && ada.pets[0].owners == again.pets[0].owners)
        #expect(ada.pets[0].owners != ada.pets[1].owners && Pet().owners == Pet().owners)
        let (one, other) = (List<Int>(), List<Int>())
        one.append(objectsIn: [1, 2, 3])
        #expect(one != other && ada.scores != one)
        other.append(objectsIn: [1, 2, 3])
        #expect(one == other && AnyRealmCollection(ada.scores) == AnyRealmCollection(again.scores))
        #expect(AnyRealmCollection(ada.scores) != AnyRealmCollection(ada.scores.filter("SELF > 0")))
    }

    @Test("Any collection can be frozen and thawed")
    func freezing() throws {
        func frozenCount<C: RealmCollection>(_ collection: C) throws -> (Int, Int?) {
            let frozen = collection.freeze()
            try realm.write { realm.delete(realm.objects(Pet.self).where { $0.name == "Bo" }) }
            #expect(frozen.isFrozen && !collection.isFrozen && frozen.freeze() == frozen)
            return (frozen.count, frozen.thaw()?.count)
        }
        #expect(try frozenCount(AnyRealmCollection(ada.pets)) == (2, 1))
        let owners = ada.pets[0].owners.freeze()
        try realm.write { ada.pets.removeAll() }
        #expect(owners.count == 1 && owners.thaw()?.count == 0 && owners[0].name == "Ada")
    }

    @Test("ReplaceSubrange takes every kind of range")
    func ranges() throws {
        let unmanaged = List<Int>()
        unmanaged.append(objectsIn: [1, 2, 3])
        try realm.write {
            for list in [ada.scores, unmanaged] {
                list.replaceSubrange(0...1, with: [7])
                list.replaceSubrange(1..., with: [8, 9])
                list.replaceSubrange(..<1, with: [])
                list.removeSubrange(1...)
                #expect(Array(list) == [8])
            }
        }
    }

    @Test("@unionOfObjects works, and sort descriptors print like Realm's")
    func keyValueCoding() {
        #expect(ada.pets.value(forKeyPath: "@unionOfObjects.age") as? [Int] == [2, 2])
        #expect(ada.pets.value(forKeyPath: "@distinctUnionOfObjects.age") as? [Int] == [2])
        #expect(
            SortDescriptor(keyPath: "a.b", ascending: false).description
                == "SortDescriptor(keyPath: a.b, direction: descending)")
    }
}
