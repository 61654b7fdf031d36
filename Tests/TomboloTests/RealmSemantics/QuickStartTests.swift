import Foundation
import Testing
import Tombolo

/// App code as in Realm's documentation.
@Suite("Realm semantics: documented use")
struct QuickStartTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try folder.semanticRealm()
    }

    @Test("Quick start: add, query, update, delete")
    func quickStart() throws {
        let rex = Pet("Rex", age: 3)
        #expect(rex.realm == nil && !rex.isInvalidated && !rex.isFrozen)
        try realm.write { realm.add(rex) }
        let pets = realm.objects(Pet.self)
        #expect(pets.count == 1 && pets.first?.name == "Rex" && pets.last?.age == 3)
        let old = pets.where { $0.age > 2 }
        #expect(old.count == 1 && !old.isEmpty)
        try realm.write { rex.age = 1 }
        #expect(old.isEmpty && old.first == nil && old.last == nil && Array(old) == [])
        try realm.write { realm.delete(rex) }
        #expect(pets.count == 0 && rex.isInvalidated && realm.isEmpty)
    }

    @Test("create(_:value:) takes dictionaries, arrays, partial values, nested ones and nil")
    func create() throws {
        try realm.write {
            let ada = realm.create(
                Citizen.self,
                value: [
                    "_id": 1, "name": "Ada", "nick": NSNull(), "pets": [["name": "Rex", "age": 2], ["Bo", 4]],
                    "favourite": ["name": "Cat"], "home": ["street": "Main St", "codes": [1, 2]],
                    "places": [["street": "A"], ["street": "B"]], "tags": ["x", "y"], "mood": Mood.happy,
                    "rank": 10, "born": Date(timeIntervalSince1970: 10),
                ] as [String: Any])
            #expect(ada.age == 18 && ada.nick == nil && ada.pets.map(\.name) == ["Rex", "Bo"] && ada.pets[1].age == 4)
            #expect(ada.favourite?.name == "Cat" && ada.home?.street == "Main St" && ada.home?.codes.count == 2)
            #expect(ada.places.map(\.street) == ["A", "B"] && ada.mood == .happy && ada.rank == .high)
            // JSON has its own kinds of numbers, and may have more properties than the class.
            let json =
                #"{"_id": 9, "name": "J", "age": 7, "height": 2, "isAdmin": true, "pets": [{"name": "P", "age": 3}], "x": 1}"#
            let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
            let made = realm.create(Citizen.self, value: object)
            #expect(made.age == 7 && made.height == 2 && made.isAdmin && made.pets.first?.age == 3)
            let again = Citizen(value: object)
            #expect(again.age == 7 && again.isAdmin && again.pets.first?.name == "P")
            realm.create(
                Citizen.self, value: ["_id": 9, "pets": realm.objects(Pet.self).where { $0.age == 4 }], update: .all)
            #expect(made.pets.map(\.name) == ["Bo"])
            realm.delete(realm.objects(Pet.self).where { $0.age == 3 })
            let pet = realm.create(Pet.self, value: ["Only name"])
            #expect(pet.name == "Only name" && pet.age == 0)
            #expect(realm.create(Pet.self).name == "")
            // Properties that aren't named stay unchanged.
            realm.create(Citizen.self, value: ["_id": 1, "age": 40] as [String: Any], update: .modified)
            #expect(ada.name == "Ada" && ada.age == 40 && ada.pets.count == 2 && ada.home?.street == "Main St")
            realm.create(Citizen.self, value: ["_id": 1, "favourite": NSNull(), "pets": NSNull()], update: .modified)
            #expect(ada.favourite == nil && ada.pets.isEmpty && realm.objects(Pet.self).count == 5)
            realm.create(Citizen.self, value: ["_id": 1, "pets": [Pet("New")]] as [String: Any], update: .all)
            #expect(ada.pets.map(\.name) == ["New"] && ada.age == 40)
        }
    }

    @Test("Object(value:) takes dictionaries, arrays and objects, and copies embedded ones")
    func values() throws {
        let ada = Citizen(value: ["_id": 1, "name": "Ada", "pets": [["name": "Rex"]], "home": ["street": "Main"]])
        #expect(ada.pets[0].name == "Rex" && ada.home?.street == "Main" && ada.age == 18)
        try realm.write { realm.add(ada) }
        let copy = Citizen(value: ada)
        #expect(copy.realm == nil && copy.name == "Ada" && copy.home?.realm == nil && copy.home !== ada.home)
        // Links are shared, as in Realm.
        #expect(copy.pets.count == 1 && copy.pets[0] == ada.pets[0])
        copy._id = 2
        try realm.write { realm.add(copy) }
        #expect(realm.objects(Citizen.self).count == 2 && realm.objects(Pet.self).count == 1)
        let pet = Pet(value: ["Ace", 7])
        #expect(pet.name == "Ace" && pet.age == 7)
    }

    @Test("add(_:update:) with .all and .modified writes nil values and nested objects")
    func upsert() throws {
        let first = Citizen(1, "Ada", age: 30)
        first.nick = "A"
        first.boss = Citizen(2, "Bob")
        try realm.write { realm.add(first) }
        for policy in [Realm.UpdatePolicy.modified, .all] {
            let second = Citizen(1, "Ada L")
            second.boss = Citizen(2, "Bobby")
            second.pets.append(Pet("Rex"))
            try realm.write {
                realm.add(second, update: policy)
                #expect(second == first && second.realm == realm)
                #expect(first.nick == nil && first.age == 18 && first.boss?.name == "Bobby" && first.pets.count == 1)
                first.nick = "A"
                first.boss?.name = "Bob"
            }
        }
        #expect(realm.objects(Citizen.self).count == 2)
        // Adding a managed object changes nothing.
        try realm.write { realm.add(first, update: .all) }
        #expect(realm.objects(Citizen.self).count == 2)
    }

    @Test("An upsert with .modified can shorten a list and replace its first elements by new objects")
    func shortenedList() throws {
        let ada = Citizen(1, "Ada")
        try realm.write { realm.add(ada) }
        for isCopied in [false, true] {
            let other = Citizen(1, "Ada")
            other.pets.append(Pet("New"))
            try realm.write {
                ada.pets.removeAll()
                ada.pets.append(objectsIn: [Pet("A"), Pet("B"), Pet("C")])
                if isCopied {
                    realm.create(Citizen.self, value: other, update: .modified)
                } else {
                    realm.add(other, update: .modified)
                }
                #expect(ada.pets.map(\.name) == ["New"])
            }
            #expect(ada.pets.map(\.name) == ["New"])
        }
        #expect(realm.objects(Pet.self).count == 8)
    }

    @Test("The object that create returns after an update with .modified has the objects given for its list")
    func grownList() throws {
        let (rex, bo) = (Pet("Rex"), Pet("Bo"))
        try realm.write {
            realm.add([rex, bo])
            realm.create(Citizen.self, value: ["_id": 1])
            let ada = realm.create(Citizen.self, value: ["_id": 1, "pets": [rex]], update: .modified)
            #expect(ada.pets.first == rex && ada.pets.count == 1)
            let same = realm.create(Citizen.self, value: ["_id": 1, "pets": [rex, bo]], update: .modified)
            #expect(Array(same.pets) == [rex, bo] && Array(ada.pets) == [rex, bo])
        }
    }

    @Test("An existing primary key with .error undoes the transaction")
    func duplicate() throws {
        try realm.write { realm.add(Citizen(1, "Ada")) }
        #expect(throws: Realm.Error.self) {
            try realm.write {
                realm.add(Citizen(3, "Eve"))
                realm.add(Citizen(1, "Mallory"))
            }
        }
        #expect(realm.objects(Citizen.self).map(\.name) == ["Ada"])
    }

    @Test("Objects that link to each other in circles are added once each")
    func circles() throws {
        let (a, b) = (Citizen(1, "A"), Citizen(2, "B"))
        a.boss = b
        b.boss = a
        let narcissus = Citizen(3, "N")
        narcissus.boss = narcissus
        try realm.write {
            realm.add(a)
            realm.add(narcissus, update: .modified)
        }
        #expect(realm.objects(Citizen.self).count == 3)
        #expect(a.boss == b && b.boss == a && narcissus.boss == narcissus && a.boss?.boss?.boss == b)
        #expect(a.reports.first == b && narcissus.reports.count == 1)
        try realm.write {
            realm.add(
                Citizen(value: ["_id": 1, "name": "A2", "boss": ["_id": 2, "boss": ["_id": 1, "name": "A3"]]]),
                update: .all)
        }
        #expect(realm.objects(Citizen.self).count == 3)
    }

    @Test("Values given to create may lead back to the object being created, with any update policy")
    func circlesOfValues() throws {
        for (id, policy) in [(10, Realm.UpdatePolicy.modified), (20, .all)] {
            try realm.write {
                let back: [String: Any] = ["_id": id, "age": 50]
                let boss: [String: Any] = ["_id": id + 1, "boss": back]
                let ada = realm.create(
                    Citizen.self, value: ["_id": id, "name": "Ada", "boss": boss, "tags": ["x"]], update: policy)
                #expect(ada.name == "Ada" && ada.age == 50 && Array(ada.tags) == ["x"])
                #expect(ada.boss?._id == id + 1 && ada.boss?.boss == ada && ada.reports.count == 1)
            }
        }
        #expect(realm.objects(Citizen.self).count == 4)
    }

    @Test("A write returns its block's value; an error undoes it and invalidates added objects")
    func rollback() throws {
        struct Oops: Error {}
        #expect(try realm.write { 42 } == 42)
        let pet = Pet("Gone")
        let ada = Citizen(1, "Ada")
        try realm.write { realm.add(ada) }
        #expect(throws: Oops.self) {
            try realm.write {
                ada.name = "Changed"
                ada.pets.append(pet)
                throw Oops()
            }
        }
        #expect(ada.name == "Ada" && ada.pets.isEmpty && pet.isInvalidated && realm.objects(Pet.self).isEmpty)
        // Ending the transaction inside the block is fine.
        try realm.write {
            ada.name = "Cancelled"
            realm.cancelWrite()
        }
        try realm.write {
            ada.age = 99
            try realm.commitWrite()
        }
        #expect(ada.name == "Ada" && ada.age == 99 && !realm.isInWriteTransaction)
        realm.beginWrite()
        #expect(realm.isInWriteTransaction)
        ada.age = 1
        realm.cancelWrite()
        #expect(ada.age == 99)
    }

    @Test("Cancelling a write restores deleted objects, but old instances stay invalid")
    func cancelledDeletion() throws {
        try realm.write {
            for number in 1...4 { realm.add(Citizen(number, "C\(number)")) }
            realm.add([Pet("Rex"), Pet("Bo")])
        }
        let citizens = realm.objects(Citizen.self)
        let held = Array(citizens)
        let twin = try #require(citizens.first)
        let pets = Array(realm.objects(Pet.self))
        realm.beginWrite()
        realm.delete(held[0])
        realm.delete(citizens.where { $0._id == 2 })
        realm.delete(realm.objects(Pet.self).where { $0.name == "Rex" })
        #expect(citizens.count == 2)
        realm.cancelWrite()
        #expect(citizens.count == 4 && citizens.first?.name == "C1")
        #expect(held.map(\.isInvalidated) == [true, true, false, false] && twin.isInvalidated)
        #expect(pets.map(\.isInvalidated) == [true, false])
        realm.beginWrite()
        realm.deleteAll()
        realm.cancelWrite()
        #expect(held.allSatisfy(\.isInvalidated) && citizens.count == 4 && citizens[3].name == "C4")
    }

    @Test("An object deleted and added again under its key is another object")
    func reborn() throws {
        let old = Citizen(7, "Old")
        try realm.write { realm.add(old) }
        let other = try #require(realm.object(ofType: Citizen.self, forPrimaryKey: 7))
        var new = Citizen(7, "New")
        try realm.write {
            realm.delete(old)
            realm.add(new)
        }
        #expect(old.isInvalidated && other.isInvalidated && new.name == "New" && !new.isInvalidated)
        for delete in [{ realm.deleteAll() }, { realm.delete(realm.objects(Citizen.self).where { $0._id == 7 }) }] {
            let before = new
            new = Citizen(7, "Newer")
            try realm.write {
                delete()
                realm.add(new)
                #expect(new.name == "Newer" && before.isInvalidated)
            }
            #expect(before.isInvalidated && new.name == "Newer" && realm.objects(Citizen.self).first == new)
        }
        // Added through another Realm of the file.
        let folder = folder
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                let realm = try folder.semanticRealm()
                try realm.write { realm.deleteAll() }
                try realm.write { realm.add(Citizen(7, "Theirs")) }
            } catch {
                Issue.record(error)
            }
            done.signal()
        }
        done.wait()
        #expect(new.name == "Newer")
        realm.refresh()
        #expect(new.isInvalidated && realm.objects(Citizen.self).first?.name == "Theirs")
    }

    @Test("Identity: equality, hashing, isSameObject, id")
    func identity() throws {
        let ada = Citizen(1, "Ada")
        let twin = Citizen(1, "Ada")
        #expect(ada != twin && ada.isSameObject(as: ada))
        try realm.write { realm.add(ada) }
        let again = try #require(realm.object(ofType: Citizen.self, forPrimaryKey: 1))
        #expect(again == ada && again !== ada && again.isSameObject(as: ada) && !again.isSameObject(as: nil))
        #expect(Set([ada, again]).count == 1 && ada.id == again.id)
        #expect(realm.objects(Citizen.self).contains(ada) && realm.objects(Citizen.self).index(of: ada) == 0)
        #expect(realm.objects(Citizen.self).index(of: twin) == nil)
    }

    @Test("Deleting an object sets links to nil, shrinks lists and deletes its embedded objects only")
    func deletion() throws {
        let (ada, rex, bo) = (Citizen(1, "Ada"), Pet("Rex"), Pet("Bo"))
        ada.favourite = rex
        ada.pets.append(objectsIn: [rex, bo, rex])
        ada.home = Place("Main")
        ada.places.append(Place("Second"))
        try realm.write { realm.add(ada) }
        #expect(rex.owners.count == 2 && rex.fans.count == 1 && bo.owners.first == ada)
        let (home, second, list) = (try #require(ada.home), ada.places[0], ada.pets)
        try realm.write { realm.delete(rex) }
        #expect(ada.favourite == nil && ada.pets.map(\.name) == ["Bo"] && list.count == 1)
        try realm.write { realm.delete(ada) }
        #expect(home.isInvalidated && second.isInvalidated && list.isInvalidated && !bo.isInvalidated)
        #expect(bo.owners.isEmpty && realm.objects(Pet.self).count == 1)
    }

    @Test("Deleting while enumerating, and deleting lists and sequences")
    func deleteWhileEnumerating() throws {
        let ada = Citizen(1, "Ada")
        try realm.write {
            for number in 0..<50 { ada.pets.append(Pet("P\(number)", age: number)) }
            realm.add(ada)
            for pet in realm.objects(Pet.self) where pet.age % 2 == 0 { realm.delete(pet) }
            #expect(ada.pets.count == 25)
            for pet in ada.pets where pet.age < 25 { realm.delete(pet) }
            #expect(ada.pets.count == 13)
            realm.delete(ada.pets.where { $0.age > 45 })
            #expect(ada.pets.last?.age == 45)
            realm.delete(ada.pets)
            #expect(ada.pets.isEmpty && realm.objects(Pet.self).isEmpty)
            ada.pets.append(objectsIn: [Pet("A"), Pet("B")])
            ada.pets.append(ada.pets[0])
            realm.delete(Array(ada.pets))
            let twice = Pet("Twice")
            ada.pets.append(objectsIn: [twice, twice])
            realm.delete(ada.pets)
            #expect(twice.isInvalidated && ada.pets.isEmpty)
            realm.deleteAll()
            #expect(ada.isInvalidated && realm.isEmpty)
        }
    }

    @Test("Schema and descriptions")
    func schema() throws {
        let schema = realm.schema
        #expect(schema.objectSchema.map(\.className) == ["Citizen", "Everything", "Pet", "Reserved"])
        let citizen = try #require(schema["Citizen"])
        #expect(citizen.primaryKeyProperty?.name == "_id" && citizen["name"]?.type == .string)
        #expect(citizen["nick"]?.isOptional == true && citizen["pets"]?.isArray == true)
        #expect(citizen["pets"]?.objectClassName == "Pet" && citizen["boss"]?.type == .object)
        #expect(Citizen.className() == "Citizen" && Citizen(1, "A").objectSchema.className == "Citizen")
        #expect(citizen.properties.contains { $0.name == "home" && $0.objectClassName == "Place" })
        let pet = Pet("Rex", age: 2)
        #expect(pet.description == "Pet {\n\tname = Rex;\n\tage = 2;\n}")
        try realm.write { realm.add(pet) }
        #expect("\(realm.objects(Pet.self))" == "Results<Pet> (\n\t[0] Pet {\n\t\tname = Rex;\n\t\tage = 2;\n\t}\n)")
        let list = List<Int>()
        #expect("\(list)" == "List<Int> ()")
        list.append(4)
        #expect("\(list)" == "List<Int> (\n\t[0] 4\n)")
        try realm.write { realm.delete(pet) }
        #expect(pet.description == "[invalid object]")
    }
}
