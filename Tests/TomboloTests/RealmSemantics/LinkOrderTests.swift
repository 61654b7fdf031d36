import Testing
import Tombolo

@Suite("Realm semantics: sorting through links")
struct LinkOrderTests {
    let folder: TemporaryFolder
    let realm: Realm

    /// 1 has no pet, 2's pet has no name, and 3 and 4 share a pet.
    init() throws {
        folder = try TemporaryFolder()
        let realm = try folder.semanticRealm()
        self.realm = realm
        try realm.write {
            let nameless = Citizen(9, "Z")
            nameless.nick = nil
            let named = Citizen(8, "Y")
            named.nick = "n"
            realm.add([nameless, named])
            for (number, boss) in [nil, nameless, named, named].enumerated() {
                let citizen = Citizen(number + 1, "C")
                citizen.boss = boss
                if number > 1 { citizen.home = Place("S", city: number == 2 ? nil : "Rome", floor: 5 - number) }
                realm.add(citizen)
            }
        }
    }

    private var citizens: Results<Citizen> { realm.objects(Citizen.self).where { $0.name == "C" } }

    @Test(
        "Ascending through a link, nil values come first and missing links last; descending is the reverse"
    )
    func links() {
        #expect(citizens.sorted(byKeyPath: "boss.nick").map(\._id) == [2, 3, 4, 1])
        #expect(citizens.sorted(byKeyPath: "boss.nick", ascending: false).map(\._id) == [1, 3, 4, 2])
        #expect(citizens.sorted(by: \.boss?.name).map(\._id) == [3, 4, 2, 1])
        #expect(
            citizens.sorted(by: \.boss?.name).last?._id == 1
                && citizens.sorted(by: \.boss?.name, ascending: false).first?._id == 1)
    }

    @Test("Missing embedded objects come last too")
    func embedded() {
        #expect(citizens.sorted(byKeyPath: "home.floor").map(\._id) == [4, 3, 1, 2])
        #expect(citizens.sorted(byKeyPath: "home.city").map(\._id) == [3, 4, 1, 2])
        #expect(citizens.sorted(byKeyPath: "home.city", ascending: false).map(\._id) == [1, 2, 4, 3])
    }

    @Test("Distinct through a link ignores objects without the link")
    func distinct() {
        #expect(
            citizens.distinct(by: ["boss.nick"]).map(\._id) == [2, 3] && citizens.distinct(by: ["home.city"]).count == 2
        )
        #expect(
            citizens.distinct(by: ["name", "boss.name"]).map(\._id) == [2, 3]
                && citizens.distinct(by: ["nick"]).count == 1)
    }

    @Test("Setting a link moves its object in an observed sort")
    func observed() throws {
        var order: [Int] = []
        let sorted = citizens.sorted(byKeyPath: "boss.nick")
        let token = sorted.observe { change in
            switch change {
            case .initial(let found), .update(let found, _, _, _): order = found.map(\._id)
            case .error: break
            }
        }
        realm.refresh()
        try realm.write {
            realm.object(ofType: Citizen.self, forPrimaryKey: 1)?.boss = realm.object(
                ofType: Citizen.self, forPrimaryKey: 9)
        }
        realm.refresh()
        #expect(order == sorted.map(\._id) && order == [1, 2, 3, 4])
        try realm.write { realm.object(ofType: Citizen.self, forPrimaryKey: 2)?.boss = nil }
        realm.refresh()
        #expect(order == sorted.map(\._id) && order == [1, 3, 4, 2])
        token.invalidate()
    }
}
