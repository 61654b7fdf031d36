import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: values")
struct ValueSemanticsTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try folder.semanticRealm()
    }

    @Test("Extreme values of every type round-trip, even through another Realm")
    func extremes() throws {
        let thing = Everything()
        thing.int8 = .min
        thing.int16 = .max
        thing.int32 = .min
        thing.int64 = .min
        thing.float = .greatestFiniteMagnitude
        thing.double = -.infinity
        thing.string = "👩‍👩‍👧‍👦 e\u{301} \u{10FFFF}\n'\"\\"
        thing.data = Data((0...255).map { UInt8($0) })
        thing.date = Date(timeIntervalSince1970: -62_000_000_000.5)
        thing.decimal = try Decimal128(string: "-9.999999999999999999999999999999999E+6144")
        thing.optInt = .max
        thing.optFloat = -0.0
        thing.optString = ""
        thing.optData = Data()
        thing.optDate = .distantFuture
        thing.optDecimal = try Decimal128(string: "1E-6176")
        try realm.write { realm.add(thing) }
        let id = thing._id
        let other = try folder.semanticRealm().freeze()
        for found in [thing, try #require(other.object(ofType: Everything.self, forPrimaryKey: id))] {
            #expect(found.int8 == .min && found.int16 == .max && found.int32 == .min && found.int64 == .min)
            #expect(
                found.float == .greatestFiniteMagnitude && found.double == -.infinity
                    && found.string == "👩‍👩‍👧‍👦 e\u{301} \u{10FFFF}\n'\"\\")
            #expect(found.data.count == 256 && found.date.timeIntervalSince1970 == -62_000_000_000.5)
            #expect(found.decimal.description == "-9.999999999999999999999999999999999E+6144")
            #expect(
                found.optInt == .max && found.optFloat == 0 && found.optString?.isEmpty == true
                    && found.optData == Data())
            #expect(
                found.optDate == .distantFuture && found.optDecimal?.description == "1E-6176" && found.optUUID == nil)
            #expect(found.objectId == thing.objectId && found.uuid == thing.uuid && found._id == id)
        }
        let all = realm.objects(Everything.self)
        #expect(
            all.where { $0.double == -.infinity && $0.int64 == .min && $0.optString == "" && $0.optData == Data() }
                .count == 1)
        #expect(
            all.filter(
                "optInt == %@ AND uuid == %@ AND objectId == %@ AND date < %@", Int.max, thing.uuid, thing.objectId,
                Date()
            ).count == 1)
    }

    @Test("Defaults: zero, nil, the current time and random identifiers, per object")
    func defaults() throws {
        let start = Date().microsecondsSince1970
        let (a, b) = (Everything(), Everything())
        #expect(
            a._id != b._id && a.objectId != b.objectId && a._id == a._id && a.int64 == 0 && a.string == ""
                && a.optInt == nil)
        #expect(
            a.date.microsecondsSince1970 >= start && a.date <= Date() + 0.000_001 && a.data.isEmpty
                && ObjectId() == ObjectId()
                && Citizen().mood == .calm)
        try realm.write {
            let made = [realm.create(Everything.self), realm.create(Everything.self)]
            #expect(made[0]._id != made[1]._id)
            realm.add([a, b])
        }
        #expect(realm.objects(Everything.self).count == 4)
    }

    @Test("A value no property can hold fails the transaction, and its objects work until then")
    func refused() throws {
        let citizen = Citizen(1, "Ada")
        try realm.write { realm.add(citizen) }
        let changes: [(String, () -> Void)] = [
            ("NaN", { citizen.height = .nan }),
            ("U+0000", { citizen.name = "a\0b" }),
            ("16 MB", { citizen.name = String(repeating: "x", count: (16 << 20) + 1) }),
            ("another key", { citizen._id = 2 }),
        ]
        for (what, change) in changes {
            let error = #expect(throws: Realm.Error.self, "\(what)") { try realm.write { change() } }
            #expect(error?.code == .invalidInput, "\(what)")
        }
        #expect(citizen.name == "Ada" && citizen._id == 1 && citizen.height == nil)
        try realm.write {
            citizen._id = 1
            citizen.name = String(repeating: "x", count: 16 << 20)
        }
        #expect(citizen.name.utf8.count == 16 << 20)
    }

    @Test("Codable: missing optional keys are nil; nested objects and lists decode")
    func codable() throws {
        let json =
            #"{"name": "Rex", "home": {"street": "Main", "codes": [1, 2]}, "tags": ["a"], "friend": {"name": "Bo", "tags": []}}"#
        let decoded = try JSONDecoder().decode(CodablePet.self, from: Data(json.utf8))
        #expect(
            decoded.name == "Rex" && decoded.weight == nil && decoded.home?.codes.count == 2
                && decoded.friend?.name == "Bo")
        #expect(Array(decoded.tags) == ["a"])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CodablePet.self, from: Data("{}".utf8)) }
        let again = try JSONDecoder().decode(CodablePet.self, from: try JSONEncoder().encode(decoded))
        #expect(again.home?.street == "Main" && again.friend?.name == "Bo" && Array(again.tags) == ["a"])
    }

    @Test("A class with a hundred properties works")
    func wide() throws {
        let realm = try Realm(configuration: folder.configuration(types: [Wide.self]))
        try realm.write {
            for number in 0..<3 {
                let wide = realm.create(Wide.self)
                for property in 0..<100 { wide["p\(property)"] = number * 100 + property }
            }
        }
        #expect(realm.objects(Wide.self).map { $0.p99 } == [99, 199, 299])
        #expect(realm.objects(Wide.self).where { $0.p42 > 100 && $0.p7 < 200 }.count == 1)
        #expect(realm.objects(Wide.self).sum(of: \.p0) == 300 && Wide.sharedSchema()?.properties.count == 100)
    }
}

class CodablePlace: EmbeddedObject, Codable {
    @Persisted var street: String
    @Persisted var codes: List<Int>
}

class CodablePet: Object, Codable {
    @Persisted var name: String
    @Persisted var weight: Double?
    @Persisted var home: CodablePlace?
    @Persisted var tags: List<String>
    @Persisted var friend: CodablePet?
}
