import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: sorting, aggregates, lists")
struct CollectionSemanticsTests {
    let folder: TemporaryFolder
    let realm: Realm
    let ada: Citizen

    init() throws {
        folder = try TemporaryFolder()
        realm = try folder.semanticRealm()
        let ada = Citizen(1, "Ada", age: 40)
        self.ada = ada
        ada.scores.append(objectsIn: [5, 1, 5, 3])
        ada.marks.append(objectsIn: [2.5, nil, 1.5])
        ada.tags.append(objectsIn: ["b", "a", "B", "b"])
        ada.places.append(objectsIn: [Place("Z", floor: 3), Place("A", city: "Rome", floor: 1), Place("M", floor: 1)])
        let (rex, bo) = (Pet("Rex", age: 2), Pet("Bo", age: 9))
        ada.pets.append(objectsIn: [rex, bo, rex])
        try realm.write { realm.add(ada) }
    }

    @Test("Sorting: nil first, false before true, stable, through links, last sort wins")
    func sorting() throws {
        try realm.write {
            for (number, height) in [nil, 1.5, nil, 1.4].enumerated() {
                let citizen = Citizen(number + 2, "N\(number % 2)", age: 30 - number)
                citizen.height = height
                citizen.isAdmin = number % 2 == 1
                citizen.boss = number == 1 ? ada : nil
                realm.add(citizen)
            }
        }
        let all = realm.objects(Citizen.self)
        #expect(all.sorted(byKeyPath: "height").map(\._id) == [1, 2, 4, 5, 3])
        #expect(all.sorted(byKeyPath: "height", ascending: false).map(\._id) == [3, 5, 1, 2, 4])
        #expect(all.sorted(byKeyPath: "isAdmin").map(\._id) == [1, 2, 4, 3, 5])
        #expect(all.sorted(byKeyPath: "boss.name").map(\._id) == [3, 1, 2, 4, 5])
        #expect(all.sorted(by: \.boss?.name, ascending: false).first?._id == 1)
        #expect(all.sorted(by: ["name", "age"]).map(\._id) == [1, 4, 2, 5, 3])
        #expect(
            all.sorted(by: [SortDescriptor(keyPath: \Citizen.name).reversed(), SortDescriptor(keyPath: "age")]).map(
                \._id) == [5, 3, 4, 2, 1])
        // The last sort comes first; the one before it breaks ties.
        #expect(all.sorted(byKeyPath: "age").sorted(byKeyPath: "name").map(\._id) == [1, 4, 2, 5, 3])
        #expect(all.sorted(byKeyPath: "age").first?._id == 5 && all.sorted(byKeyPath: "age").last?._id == 1)
        #expect(
            all.last?._id == 5 && all.sorted(byKeyPath: "isAdmin").last?._id == 5
                && ada.pets.sorted(byKeyPath: "age").last?.name == "Bo")
        let top = all.sorted(byKeyPath: "age", ascending: false)[0..<2]
        #expect(top.map(\._id) == [1, 2] && top.count == 2 && all.prefix(2).map(\._id) == [1, 2])
    }

    @Test("Distinct keeps the first of each, after earlier filters, and can be chained")
    func distinct() throws {
        try realm.write {
            for (number, (name, age)) in [("a", 1), ("a", 2), ("b", 2)].enumerated() {
                realm.add(Citizen(number + 2, name, age: age))
            }
        }
        let all = realm.objects(Citizen.self).where { $0._id > 1 }
        #expect(all.distinct(by: ["name"]).map(\._id) == [2, 4] && all.distinct(by: [\.name, \.age]).count == 3)
        #expect(all.distinct(by: ["name"]).filter("age == 2").map(\._id) == [3, 4])
        #expect(all.distinct(by: ["name"]).distinct(by: ["age"]).map(\._id) == [2, 4])
        #expect(all.sorted(byKeyPath: "age", ascending: false).distinct(by: ["name"]).map(\._id) == [3, 4])
        #expect(all.distinct(by: ["name"]).sorted(byKeyPath: "name", ascending: false).map(\._id) == [4, 2])
        #expect(all.distinct(by: ["name"]).count == 2 && all.distinct(by: ["name"]).last?._id == 4)
    }

    @Test("Aggregates work on results, lists and linking objects, by name and key path, even if empty")
    func aggregates() throws {
        let pets = realm.objects(Pet.self)
        let sum: Int = pets.sum(ofProperty: "age")
        let average: Double? = pets.average(ofProperty: "age")
        #expect(sum == 11 && average == 5.5 && pets.min(of: \.age) == 2 && pets.max(ofProperty: "age") == 9)
        #expect(
            ada.pets.sum(of: \.age) == 13 && ada.pets.average(of: \.age) == 13.0 / 3.0
                && ada.places.max(of: \.floor) == 3)
        #expect(pets[0].owners.sum(of: \.age) == 80 && pets[1].owners.max(of: \.age) == 40)
        let none = pets.where { $0.age > 100 }
        #expect(
            none.sum(of: \.age) == 0 && none.min(of: \.age) == nil && none.average(ofProperty: "age") as Double? == nil)
        let all = realm.objects(Citizen.self)
        #expect(all.min(of: \.born) == nil && all.sum(of: \.height) == 0 && all.average(of: \.height) as Double? == nil)
        try realm.write { ada.born = Date(timeIntervalSince1970: -5) }
        #expect(
            all.min(of: \.born) == Date(timeIntervalSince1970: -5) && all.max(ofProperty: "born") as Date? == ada.born)
        #expect(all.sum(ofProperty: "favourite.age") as Int == 0)
        let unmanaged = Citizen(5, "U")
        unmanaged.pets.append(objectsIn: [Pet("a", age: 1), Pet("b", age: 4)])
        #expect(unmanaged.pets.max(of: \.age) == 4 && unmanaged.pets.sum(ofProperty: "age") as Int == 5)
    }

    @Test("A sum of 64 bits is exact, and one beyond is the least or greatest integer, managed or not")
    func largeSums() throws {
        let sums: [([Int], Int)] = [
            ([.max, 1], .max), ([.max, .max, .max], .max), ([.min, -1], .min), ([.min, .min, .min, -7], .min),
            ([.max, 1, -1], .max), ([.min, -1, 5], .min + 4), ([.max, .max, .min, .min, 7], 5),
        ]
        for (numbers, sum) in sums {
            let list = List<Int>()
            list.append(objectsIn: numbers)
            #expect(list.sum() == sum, "\(numbers)")
            try realm.write {
                ada.scores.removeAll()
                ada.scores.append(objectsIn: numbers)
            }
            #expect(ada.scores.sum() == sum, "\(numbers)")
        }
        let pets = List<Pet>()
        pets.append(objectsIn: [Pet("a", age: .max), Pet("b", age: .max)])
        #expect(pets.sum(of: \.age) == .max && pets.average(of: \.age) == 0x1p63)
    }

    @Test("Lists of values can be filtered, sorted, made distinct and aggregated")
    func values() throws {
        #expect(ada.scores.min() == 1 && ada.scores.max() == 5 && ada.scores.sum() == 14 && ada.scores.average() == 3.5)
        #expect(ada.marks.min() == 1.5 && ada.marks.sum() == 4 && ada.marks.average() == 2.0)
        #expect(
            Array(ada.scores.sorted(ascending: false)) == [5, 5, 3, 1]
                && Array(ada.scores.filter("SELF > 3")) == [5, 5])
        #expect(Array(ada.scores.distinct()) == [5, 1, 3] && Array(ada.tags.distinct()) == ["b", "a", "B"])
        #expect(
            Array(ada.tags.filter("SELF ==[c] 'b'")) == ["b", "B", "b"]
                && Array(ada.tags.sorted(byKeyPath: "self")) == ["B", "a", "b", "b"])
        #expect(
            Array(ada.marks.sorted(ascending: true)) == [nil, 1.5, 2.5] && Array(ada.scores.where { $0 < 4 }) == [1, 3])
        #expect(
            Array(ada.marks.filter("SELF != nil")) == [2.5, 1.5] && ada.scores.index(of: 3) == 3
                && ada.scores.index(matching: "SELF < 4") == 1)
        let big = ada.scores.filter("SELF > 3")
        #expect(
            big.count == 2 && big.first == 5 && big.last == 5 && big[1] == 5 && big.index(of: 5) == 0 && big.min() == 5)
        try realm.write { ada.scores.append(8) }
        #expect(Array(big) == [5, 5, 8] && big.realm == realm)
        let fresh = List<Int>()
        #expect(fresh.min() == nil && fresh.sum() == 0 && fresh.average() as Double? == nil)
        fresh.append(objectsIn: [2, 3])
        #expect(fresh.sum() == 5 && fresh.average() == 2.5 && fresh.max() == 3)
        let frozen = big.freeze()
        try realm.write { ada.scores.removeAll() }
        #expect(Array(frozen) == [5, 5, 8] && big.isEmpty)
    }

    @Test("Lists of embedded objects can be filtered and sorted, and yield the list's own objects")
    func embedded() throws {
        #expect(ada.places.filter("floor == 1").map(\.street) == ["A", "M"])
        #expect(ada.places.where { $0.city == nil }.map(\.street) == ["Z", "M"])
        #expect(ada.places.sorted(byKeyPath: "street").map(\.street) == ["A", "M", "Z"])
        #expect(ada.places.sorted(by: \.floor).map(\.street) == ["A", "M", "Z"])
        #expect(ada.places.distinct(by: ["floor"]).map(\.street) == ["Z", "A"])
        let found = try #require(ada.places.where { $0.city == "Rome" }.first)
        #expect(
            found == ada.places[1] && ada.places.index(of: found) == 1
                && ada.places.filter("floor == 1").index(of: found) == 0)
        try realm.write {
            found.floor = 8
            realm.delete(ada.places.where { $0.floor == 1 })
        }
        #expect(ada.places.map(\.street) == ["Z", "A"] && ada.places.sum(of: \.floor) == 11)
        for place in ada.places.sorted(byKeyPath: "street") { try realm.write { realm.delete(place) } }
        #expect(ada.places.isEmpty && found.isInvalidated)
    }

    @Test("A list keeps an object that's in it twice, even filtered and sorted")
    func duplicates() {
        #expect(ada.pets.filter("age < 5").map(\.name) == ["Rex", "Rex"] && ada.pets.where { $0.age > 0 }.count == 3)
        #expect(ada.pets.sorted(byKeyPath: "age").map(\.name) == ["Rex", "Rex", "Bo"])
        #expect(ada.pets.distinct(by: ["name"]).map(\.name) == ["Rex", "Bo"])
        #expect(
            ada.pets[1].owners.filter("name == 'Ada'").count == 1
                && ada.pets[0].owners.where { $0.age == 40 }.count == 2)
        #expect(ada.pets[0].owners.sorted(byKeyPath: "name").first == ada && ada.pets[0].owners.index(of: ada) == 0)
    }

    @Test("Collections are lazy, Equatable and sliceable, and can be passed as AnyRealmCollection")
    func collections() throws {
        var looks = 0
        let mapped = realm.objects(Pet.self).map { pet in
            looks += 1
            return pet.name
        }
        #expect(looks == 0 && mapped.first == "Rex" && looks == 1)
        let names: [String] = realm.objects(Pet.self).map { $0.name }
        #expect(names == ["Rex", "Bo"] && realm.objects(Pet.self).filter { $0.age > 5 }.count == 1)
        let filtered: LazyFilterSequence<Results<Pet>> = realm.objects(Pet.self).filter { $0.age > 5 }
        #expect(filtered.first?.name == "Bo" && realm.objects(Pet.self) == realm.objects(Pet.self))
        #expect(realm.objects(Pet.self).reversed().map(\.name) == ["Bo", "Rex"])
        func count<C: RealmCollection>(_ collection: C) -> Int where C.Element == Pet {
            collection.filter("age > 1").sorted(byKeyPath: "name").count
        }
        #expect(count(realm.objects(Pet.self)) == 2 && count(ada.pets) == 3)
        let any = AnyRealmCollection(ada.pets)
        #expect(any.count == 3 && any[1].name == "Bo" && any.filter("age > 5").count == 1 && Array(any).count == 3)
        #expect(any.sum(ofProperty: "age") as Int == 13 && any.realm == realm)
    }

    @Test("Key-value coding works on objects and collections")
    func keyValueCoding() throws {
        #expect(ada["name"] as? String == "Ada" && ada.value(forKey: "age") as? Int == 40 && ada["nick"] == nil)
        #expect(ada.pets.value(forKey: "name") as? [String] == ["Rex", "Bo", "Rex"])
        #expect(ada.value(forKeyPath: "pets.@sum.age") as? Int == 13 && ada.value(forKeyPath: "home.city") == nil)
        let pets = realm.objects(Pet.self)
        #expect(pets.value(forKeyPath: "@max.age") as? Int == 9 && pets.value(forKeyPath: "@avg.age") as? Double == 5.5)
        #expect(pets.value(forKeyPath: "@count") as? Int == 2 && ada.scores.value(forKeyPath: "@min.self") as? Int == 1)
        try realm.write {
            pets.setValue("Same", forKey: "name")
            ada.places.setValue(7, forKey: "floor")
            ada.setValue("Ada L", forKey: "name")
            ada["nick"] = "L"
            ada.setValue(nil, forKey: "nick")
            ada.setValue("S", forKeyPath: "favourite.name")
            ada["favourite"] = pets[0]
            ada.setValue("Zoe", forKeyPath: "favourite.name")
            pets.where { $0.age == 9 }.setValue(1, forKey: "age")
        }
        #expect(
            pets.map(\.name) == ["Zoe", "Same"] && ada.places.allSatisfy { $0.floor == 7 } && ada.name == "Ada L"
                && ada.nick == nil)
        #expect(pets[1].age == 1)
    }

    @Test("Lists change the same way before and after they're managed")
    func unmanagedAndManaged() throws {
        func change(_ given: List<Int>) -> [Int] {
            var list = given
            list.append(objectsIn: [1, 2, 3, 4, 5])
            list.insert(9, at: 0)
            list.move(from: 0, to: 3)
            list.swapAt(0, 5)
            list[1] = 7
            list.remove(at: 2)
            list.removeFirst()
            list.removeLast(1)
            list.replaceSubrange(0..<1, with: [6, 6])
            list.removeSubrange(2...2)
            list.append(contentsOf: [8])
            list.remove(atOffsets: [0])
            list.insert(contentsOf: [0, 0], at: 1)
            list.reverse()
            list.sort()
            return Array(list)
        }
        let (unmanaged, managed) = (Citizen(8, "U"), Citizen(9, "M"))
        let expected = change(unmanaged.scores)
        try realm.write {
            realm.add(managed)
            #expect(change(managed.scores) == expected && expected.count == 5)
            managed.scores = unmanaged.scores
            unmanaged.scores.removeAll()
            #expect(Array(managed.scores) == expected)
            // Setting a list to itself keeps it.
            managed.scores = managed.scores
            #expect(Array(managed.scores) == expected && unmanaged.scores.isEmpty)
            managed.places.append(objectsIn: [Place("A"), Place("B")])
            managed.places = managed.places
            #expect(managed.places.map(\.street) == ["A", "B"])
        }
    }

    @Test("Enumerating a list or results visits what was there at the start")
    func enumeration() throws {
        try realm.write {
            var seen = 0
            for pet in ada.pets {
                seen += 1
                ada.pets.append(pet)
            }
            #expect(seen == 3 && ada.pets.count == 6)
            for (position, score) in ada.scores.enumerated() where score == 5 { ada.scores[position] = 50 }
            #expect(Array(ada.scores) == [50, 1, 50, 3])
            for citizen in realm.objects(Citizen.self).where({ $0.age > 30 }) { citizen.age = 1 }
            #expect(realm.objects(Citizen.self).where { $0.age > 30 }.isEmpty)
        }
    }
}
