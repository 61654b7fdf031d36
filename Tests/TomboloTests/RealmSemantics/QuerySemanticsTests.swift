import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: queries")
struct QuerySemanticsTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        let realm = try folder.semanticRealm()
        self.realm = realm
        try realm.write {
            // name, nick, height, isActive, pets' ages, scores
            let rows: [(String, String?, Double?, Bool?, [Int], [Int])] = [
                ("Ada", "A", 1.6, true, [1, 5], [3, 3, 9]),
                ("bob", nil, nil, nil, [], []),
                ("Çelik", "", 1.8, false, [2], [-1]),
                ("Émile", "E*", nil, true, [5, 5], [100]),
                ("adam", "a?", 1.6, false, [7], []),
            ]
            for (number, row) in rows.enumerated() {
                let citizen = Citizen(number + 1, row.0, age: 20 + number)
                citizen.nick = row.1
                citizen.height = row.2
                citizen.isActive = row.3
                citizen.pets.append(objectsIn: row.4.enumerated().map { Pet("\(row.0)'s \($0)", age: $1) })
                citizen.scores.append(objectsIn: row.5)
                citizen.rank = number == 0 ? .high : nil
                citizen.born = number == 1 ? nil : Date(timeIntervalSince1970: Double(number * 1_000 - 2_000))
                if number > 0 { citizen.boss = realm.object(ofType: Citizen.self, forPrimaryKey: 1) }
                if number == 2 { citizen.favourite = citizen.pets.first }
                if number == 3 { citizen.home = Place("Main", city: "Paris", floor: 2) }
                realm.add(citizen)
            }
        }
    }

    private func ids(_ format: String, _ arguments: Any?...) -> [Int] {
        // Variadic arguments can't be passed on.
        switch arguments.count {
        case 0: realm.objects(Citizen.self).filter(format).map(\._id)
        case 1: realm.objects(Citizen.self).filter(format, arguments[0]).map(\._id)
        default: realm.objects(Citizen.self).filter(format, arguments[0], arguments[1]).map(\._id)
        }
    }

    private func ids(_ query: (Query<Citizen>) -> Query<Bool>) -> [Int] {
        realm.objects(Citizen.self).where(query).map(\._id)
    }

    @Test("Nil equals only nil and has no order")
    func null() {
        #expect(ids("nick == nil") == [2] && ids("nick == NULL") == [2] && ids("nick = %@", nil) == [2])
        #expect(ids("nick != nil") == [1, 3, 4, 5] && ids("nick != 'A'") == [2, 3, 4, 5])
        #expect(
            ids("NOT nick == 'A'") == [2, 3, 4, 5] && ids("height > 1.7") == [3]
                && ids("NOT height > 1.7") == [1, 2, 4, 5])
        #expect(
            ids("height != 1.6") == [2, 3, 4] && ids("height <= 0").isEmpty
                && ids("height IN {1.6, nil}") == [1, 2, 4, 5])
        #expect(
            ids("isActive == true") == [1, 4] && ids("isActive != true") == [2, 3, 5] && ids("isActive == nil") == [2])
        #expect(ids("nick == ''") == [3] && ids { $0.nick == nil } == [2] && ids { $0.height != 1.6 } == [2, 3, 4])
        #expect(ids { $0.nick.contains("") } == [1, 3, 4, 5])
    }

    @Test("String comparisons: case, accents, wildcards, the empty string")
    func text() {
        #expect(ids("name == 'ada'").isEmpty && ids("name ==[c] 'ADA'") == [1])
        #expect(ids("name BEGINSWITH 'a'") == [5] && ids("name BEGINSWITH[c] 'a'") == [1, 5])
        #expect(ids("name CONTAINS[d] 'E'") == [4] && ids("name CONTAINS[cd] 'e'") == [3, 4])
        #expect(ids("name CONTAINS[c] 'é'") == [4] && ids("name ENDSWITH 'k'") == [3])
        #expect(
            ids("name LIKE '?d*'") == [1, 5] && ids("name LIKE[c] 'A*'") == [1, 5] && ids("name LIKE 'a'").isEmpty)
        #expect(
            ids("name CONTAINS ''").count == 5 && ids("name BEGINSWITH ''").count == 5 && ids("name LIKE ''").isEmpty)
        #expect(ids("name !=[c] 'ADA'") == [2, 3, 4, 5] && ids("name IN[c] {'ADA', 'BOB'}") == [1, 2])
        #expect(
            ids { $0.name.like("?d*") } == [1, 5]
                && ids { $0.name.starts(with: "A", options: .caseInsensitive) } == [1, 5])
        #expect(ids { $0.name.equals("çELIK", options: [.caseInsensitive]) } == [3])
        #expect(ids { $0.name.contains("CEL", options: [.caseInsensitive, .diacriticInsensitive]) } == [3])
        #expect(ids("'Adamant' BEGINSWITH name") == [1])
    }

    @Test("Numbers, dates, BETWEEN, an empty IN, and enums")
    func numbers() {
        #expect(ids("age BETWEEN {21, 23}") == [2, 3, 4] && ids("age BETWEEN %@", [21, 22]) == [2, 3])
        #expect(
            ids("age IN {}").isEmpty && ids("age IN %@", [Int]()).isEmpty && ids("NOT age IN %@", [Int]()).count == 5)
        #expect(
            ids("age IN %@", Set([20, 24])) == [1, 5] && ids("%@ == age", 22) == [3]
                && ids("21 <= age && age < 23") == [2, 3])
        #expect(ids("height == 1.6") == [1, 5] && ids("height == %@", 1.8) == [3] && ids("age > 21.5") == [3, 4, 5])
        #expect(
            ids("born < %@", Date(timeIntervalSince1970: 0)) == [1]
                && ids("born == %@", Date(timeIntervalSince1970: 0)) == [3])
        #expect(ids("born >= %@ AND born <= %@", Date.distantPast, Date.distantFuture) == [1, 3, 4, 5])
        #expect(
            ids("rank == %@", Rank.high) == [1] && ids("rank == 10") == [1] && ids("mood == %@", Mood.calm).count == 5)
        #expect(ids("mood == 'calm'").count == 5 && ids { $0.rank == .high } == [1] && ids { $0.mood != .calm }.isEmpty)
        #expect(ids { $0.mood.in([.happy, .calm]) }.count == 5 && ids { $0.age.contains(21...22) } == [2, 3])
        #expect(
            ids { $0.age.contains(21..<22) } == [2] && ids { $0.rank.rawValue > 5 } == [1]
                && ids { $0.age.in([20, 21]) } == [1, 2])
    }

    @Test("ANY, ALL, NONE, and aggregates of empty lists")
    func lists() {
        #expect(
            ids("ANY pets.age > 4") == [1, 4, 5] && ids("ALL pets.age > 4") == [2, 4, 5]
                && ids("NONE pets.age > 4") == [2, 3])
        #expect(
            ids("ANY scores == 3") == [1] && ids("ALL scores > 0") == [1, 2, 4, 5]
                && ids("NONE scores == 3") == [2, 3, 4, 5])
        #expect(ids("pets.@count == 0") == [2] && ids("scores.@count > 1") == [1] && ids("scores.@size == 3") == [1])
        #expect(
            ids("pets.@sum.age == 0") == [2] && ids("pets.@avg.age == 5") == [4] && ids("pets.@max.age == nil") == [2])
        #expect(ids("scores.@sum == 15") == [1] && ids("scores.@min < 0") == [3] && ids("scores.@avg == 5") == [1])
        #expect(ids("scores.@max == nil") == [2, 5] && ids("scores.@sum == 0") == [2, 5])
        #expect(ids("SUBQUERY(pets, $p, $p.age == 5 AND $p.name CONTAINS '1').@count == 1") == [1, 4])
        #expect(ids("%@ IN scores", 100) == [4] && ids("scores CONTAINS %@", -1) == [3])
        #expect(
            ids { $0.pets.age > 4 } == [1, 4, 5] && ids { $0.pets.count == 0 } == [2]
                && ids { $0.scores.contains(9) } == [1])
        #expect(
            ids { $0.scores.avg == 5 } == [1] && ids { $0.pets.age.max > 5 } == [5]
                && ids { $0.scores.containsAny(in: [9, 100]) } == [1, 4])
        #expect(ids { ($0.pets.age == 5 && $0.pets.name.contains("1")).count == 1 } == [1, 4])
        #expect(ids { !($0.pets.age > 4) } == [2, 3])
    }

    @Test("Links, embedded objects, linking objects")
    func links() throws {
        let ada = try #require(realm.object(ofType: Citizen.self, forPrimaryKey: 1))
        let pet = try #require(realm.objects(Citizen.self).where { $0._id == 3 }.first?.favourite)
        #expect(ids("boss == %@", ada) == [2, 3, 4, 5] && ids("boss != %@", ada) == [1] && ids("boss == nil") == [1])
        #expect(
            ids("boss.name == 'Ada'") == [2, 3, 4, 5] && ids("boss.boss == nil").count == 5
                && ids("boss.name != 'Ada'") == [1])
        #expect(
            ids("ANY pets == %@", pet) == [3] && ids("pets CONTAINS %@", pet) == [3] && ids("%@ IN pets", pet) == [3])
        #expect(
            ids("favourite.age == 2") == [3] && ids("home.city == 'Paris'") == [4]
                && ids("home == nil") == [1, 2, 3, 5])
        #expect(ids("home.floor > 1") == [4] && ids("reports.@count == 4") == [1] && ids("ANY reports.age > 23") == [1])
        #expect(
            ids { $0.boss == ada } == [2, 3, 4, 5] && ids { $0.home.city == "Paris" } == [4]
                && ids { $0.pets.contains(pet) } == [3])
        #expect(ids { $0.boss.name == "Ada" && $0.favourite != nil } == [3])
        #expect(realm.objects(Pet.self).filter("owners.@count == 1").count == 6)
        #expect(realm.objects(Pet.self).filter("ANY owners.name == 'Ada'").count == 2)
        #expect(realm.objects(Pet.self).where { $0.owners.age > 23 }.count == 1)
    }

    @Test("@links counts links to an object, from anywhere or through one property")
    func backlinks() {
        func count(_ format: String) -> Int { realm.objects(Pet.self).filter(format).count }
        #expect(
            count("@links.@count == 1") == 5 && count("@links.@count == 2") == 1 && count("@links.@count == 0") == 0)
        #expect(count("@links.Citizen.pets.@count == 1") == 6 && count("@links.Citizen.favourite.@count == 1") == 1)
        #expect(count("ANY @links.Citizen.pets.name == 'Ada'") == 2 && count("SELF.@links.@count > 1") == 1)
        #expect(ids("@links.Citizen.boss.@count == 4") == [1] && ids("@links.@count == 4") == [1])
        #expect(ids("favourite.@links.@count == 2") == [3])
        #expect(count("@links.Citizen.home.guests.@count == 0") == 6)
        #expect(realm.objects(Pet.self).filter("@links.@count == 1").where { $0.age == 2 }.isEmpty)
    }

    @Test("Chains of filters, and index(matching:)")
    func chains() {
        let chain = realm.objects(Citizen.self).filter("age > 20").filter("age < 24").where { $0.height == nil }
        #expect(chain.map(\._id) == [2, 4] && chain.index(matching: "name == 'Émile'") == 1)
        #expect(chain.index(matching: { $0._id == 2 }) == 0 && chain.index(matching: "_id == 1") == nil)
        #expect(chain.index(of: chain[1]) == 1 && chain.contains { $0.age == 23 })
        #expect(realm.objects(Citizen.self).filter("TRUEPREDICATE").count == 5 && ids("FALSEPREDICATE").isEmpty)
        #expect(
            ids("%K == %@", "boss.name", "Ada") == [2, 3, 4, 5] && ids("age == $0 OR age == $1", 20, 24) == [1, 5])
    }

    @Test("SQL and Swift keywords work as property names")
    func reserved() throws {
        try realm.write {
            let made = realm.create(
                Reserved.self, value: ["index": 1, "order": 5, "group": "g", "from": Date(), "table": 3])
            made.values.append(objectsIn: [1, 2])
            made.null = 7
            made.rowid = 99
            made.value = 4
            made.owner = "me"
        }
        let all = realm.objects(Reserved.self)
        #expect(all.where { $0.order == 5 && $0.group == "g" && $0.values.contains(2) && $0.rowid == 99 }.count == 1)
        #expect(all.filter("order == 5 AND group == 'g' AND table == 3 AND index == 1 AND rowid == 99").count == 1)
        #expect(
            all.filter("#null == 7 AND #contains == '' AND #like == '' AND value == 4 AND owner == 'me'").count == 1)
        #expect(all.sorted(byKeyPath: "order").first?.index == 1 && all.sorted(by: \.default).count == 1)
        let found = try #require(all.first)
        try realm.write { found.rowid = 3 }
        #expect(found.rowid == 3 && found.value == 4 && all.filter("rowid == 3").count == 1)
        #expect(realm.object(ofType: Reserved.self, forPrimaryKey: 1) == found)
    }
}
