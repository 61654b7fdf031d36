import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: values without their static types")
struct GivenValueTests {
    let realm: Realm

    init() throws { realm = try objectRealm() }

    /// An unmanaged object with the values, and one in the Realm.
    private func parcels(_ values: Any) throws -> [Parcel] {
        try realm.write { realm.deleteAll() }
        return [Parcel(value: values), try realm.write { realm.create(Parcel.self, value: values) }]
    }

    @Test("Arrays give values in declaration order, superclasses first, without LinkingObjects")
    func order() throws {
        let names = [
            "id", "labels", "weight", "sizes", "counts", "price", "ratio", "sent", "mood", "rank", "ranks", "height",
            "spot", "note",
        ]
        #expect(Parcel.sharedSchema()?.properties.map(\.name) == names)
        #expect(realm.schema["Express"]?.properties.map(\.name) == names + ["hours"])
        for parcel in try parcels([7, ["a"], 2.5, [1, 2]] as [Any]) {
            #expect(parcel.id == 7 && Array(parcel.labels) == ["a"] && parcel.weight == 2.5)
            #expect(Array(parcel.sizes) == [1, 2])
        }
        #expect(realm.schema["Parcel"]?.description.hasPrefix("Parcel {\n\tid: int, indexed\n\tlabels: array") == true)
    }

    @Test("A new object has its class's default list elements")
    func defaultLists() throws {
        for parcel in try parcels(["id": 1]) { #expect(Array(parcel.labels) == ["new", "fragile"]) }
        try realm.write {
            let parcel = realm.create(Parcel.self, value: ["id": 1, "labels": ["x"]] as [String: Any], update: .all)
            #expect(Array(parcel.labels) == ["x"])
            realm.create(Parcel.self, value: ["id": 1, "weight": 3], update: .modified)
            #expect(Array(parcel.labels) == ["x"] && parcel.weight == 3)
        }
    }

    @Test("Nil can be NSNull or an empty optional, in dictionaries, arrays and lists")
    func nils() throws {
        let mood: Rank? = nil
        let values: [[String: Any]] = [
            [
                "id": 1, "rank": NSNull(), "note": NSNull(), "counts": [1, NSNull()], "spot": NSNull(),
                "sizes": NSNull(),
            ],
            [
                "id": 1, "rank": mood as Any, "note": String?.none as Any, "counts": [1, nil] as [Int?],
                "spot": Corner?.none as Any, "sizes": [Double]?.none as Any,
            ],
        ]
        for values in values {
            for parcel in try parcels(values) {
                #expect(parcel.rank == nil && parcel.note == nil && Array(parcel.counts) == [1, nil])
                #expect(parcel.spot == Corner(0) && parcel.sizes.isEmpty)
            }
        }
        for parcel in try parcels(["id": 1, "sent": nil, "weight": 2] as [String: Any?]) {
            #expect(parcel.sent == nil && parcel.weight == 2)
        }
        for parcel in try parcels([1, ["x"], 2, nil, [3]] as [Any?]) {
            #expect(Array(parcel.counts) == [3] && parcel.sizes.isEmpty)
        }
    }

    @Test("JSON objects from Foundation are accepted, including numbers in lists")
    func json() throws {
        let text = """
            {"id": 3, "weight": 2, "sizes": [1, 2.5], "counts": [null, 4], "price": "4.40", "ratio": 3, "mood": "happy",
             "rank": null, "ranks": [10, 1], "height": 8, "spot": {"x": 9}, "labels": [], "more": {}}
            """
        for parcel in try parcels(JSONSerialization.jsonObject(with: Data(text.utf8))) {
            #expect(parcel.id == 3 && parcel.weight == 2 && Array(parcel.sizes) == [1, 2.5])
            #expect(Array(parcel.counts) == [nil, 4] && parcel.price.description == "4.40" && parcel.ratio == 3)
            #expect(parcel.mood == .happy && parcel.rank == nil && Array(parcel.ranks) == [.high, .low])
            #expect(parcel.height == Metres(8) && parcel.spot == Corner(9) && parcel.labels.isEmpty)
        }
    }

    @Test("Numbers of other types and NSDate are accepted")
    func conversions() throws {
        let prices: [(Any, Decimal128)] = [
            (1, 1), (2.2 as Float, "2.2"), (3.3, "3.3"), ("4.4", "4.4"), (Decimal(5.5), "5.5"),
        ]
        for (given, price) in prices {
            for parcel in try parcels(["id": 1, "price": given]) { #expect(parcel.price == price) }
        }
        let date = Date(timeIntervalSince1970: 12)
        let given: [String: Any] = [
            "id": NSNumber(value: 1), "sent": NSDate(timeIntervalSince1970: 12), "note": NSString(string: "n"),
            "sizes": [1, 2], "labels": Set(["one"]), "ranks": [Rank.high].dropFirst(0),
        ]
        for parcel in try parcels(given) {
            #expect(parcel.sent == date && parcel.note == "n" && Array(parcel.sizes) == [1, 2])
            #expect(Array(parcel.labels) == ["one"] && Array(parcel.ranks) == [.high])
        }
    }

    @Test("By name, enums read as raw values, projections as stored values, LinkingObjects as collections")
    func names() throws {
        for parcel in try parcels(["id": 1]) {
            try realm.write {
                parcel["mood"] = Mood.angry
                parcel["rank"] = 10
                parcel["height"] = Metres(3)
                parcel["spot"] = Corner(4)
                parcel["labels"] = parcel["labels"]
            }
            #expect(parcel["mood"] as? String == "angry" && parcel.value(forKey: "rank") as? Int == 10)
            #expect(parcel["height"] as? Int == 3 && (parcel["spot"] as? CornerPart)?.x == 4)
            #expect(parcel.labels.count == 2 && parcel["deliveries"] is LinkingObjects<Delivery>)
            try realm.write {
                parcel["rank"] = 99
                parcel["height"] = 5
                parcel["spot"] = [6]
            }
            #expect(
                parcel.rank == nil && parcel["rank"] == nil && parcel.height == Metres(5) && parcel.spot == Corner(6))
        }
        #expect(_name(for: \Tree.main?.twig?.label) == "main.twig.label" && _name(for: \Parcel.labels) == "labels")
    }

    @Test(
        "A value its property can't hold fails the transaction",
        arguments: [
            ("weight", "x" as any Sendable), ("labels", [5]), ("labels", 5), ("sizes", ["x"]), ("counts", [1.5]),
            ("spot", 5), ("id", NSNull()), ("price", "x"), ("deliveries", [Int]()),
        ])
    func refused(_ name: String, _ value: any Sendable) throws {
        let parcel = try #require(try parcels(["id": 1]).last)
        let byName = #expect(throws: Realm.Error.self) { try realm.write { parcel[name] = value } }
        #expect(byName?.code == .invalidInput && byName?.message.contains(name) == true)
        guard name != "deliveries" else { return }
        var values: [String: Any] = ["id": 2]
        values[name] = value
        let created = #expect(throws: Realm.Error.self) {
            try realm.write { _ = realm.create(Parcel.self, value: values) }
        }
        #expect(created?.code == .invalidInput)
    }
}
