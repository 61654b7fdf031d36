import Foundation
import Tombolo

enum Mood: String, PersistableEnum {
    case calm, happy, angry
}

enum Rank: Int, PersistableEnum {
    case low = 1
    case high = 10
}

class Citizen: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var name: String
    @Persisted var nick: String?
    @Persisted var age = 18
    @Persisted var height: Double?
    @Persisted var isAdmin: Bool
    @Persisted var isActive: Bool?
    @Persisted var born: Date?
    @Persisted var mood: Mood
    @Persisted var rank: Rank?
    @Persisted var favourite: Pet?
    @Persisted var boss: Citizen?
    @Persisted var pets: List<Pet>
    @Persisted var tags: List<String>
    @Persisted var scores: List<Int>
    @Persisted var marks: List<Double?>
    @Persisted var home: Place?
    @Persisted var places: List<Place>
    @Persisted(originProperty: "boss") var reports: LinkingObjects<Citizen>

    convenience init(_ id: Int, _ name: String, age: Int = 18) {
        self.init()
        _id = id
        self.name = name
        self.age = age
    }
}

class Pet: Object {
    @Persisted var name = ""
    @Persisted var age: Int
    @Persisted(originProperty: "pets") var owners: LinkingObjects<Citizen>
    @Persisted(originProperty: "favourite") var fans: LinkingObjects<Citizen>

    convenience init(_ name: String, age: Int = 1) {
        self.init()
        self.name = name
        self.age = age
    }
}

class Place: EmbeddedObject {
    @Persisted var street = ""
    @Persisted var city: String?
    @Persisted var floor: Int
    @Persisted var codes: List<Int>
    @Persisted var guests: List<Pet>

    convenience init(_ street: String, city: String? = nil, floor: Int = 0) {
        self.init()
        self.street = street
        self.city = city
        self.floor = floor
    }
}

/// Every type a property can have, required and optional.
class Everything: Object {
    @Persisted(primaryKey: true) var _id: UUID
    @Persisted var bool: Bool
    @Persisted var int8: Int8
    @Persisted var int16: Int16
    @Persisted var int32: Int32
    @Persisted var int64: Int64
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var date: Date
    @Persisted var decimal: Decimal128
    @Persisted var objectId: ObjectId
    @Persisted var uuid: UUID
    @Persisted var optInt: Int?
    @Persisted var optFloat: Float?
    @Persisted var optString: String?
    @Persisted var optData: Data?
    @Persisted var optDate: Date?
    @Persisted var optDecimal: Decimal128?
    @Persisted var optObjectId: ObjectId?
    @Persisted var optUUID: UUID?
}

/// Properties named with words of SQL and of the query language.
class Reserved: Object {
    @Persisted(primaryKey: true) var index: Int
    @Persisted var order: Int
    @Persisted var group: String
    @Persisted var select: String?
    @Persisted var from: Date?
    @Persisted var `where`: String
    @Persisted var `default`: Bool
    @Persisted var table: Int
    @Persisted var values: List<Int>
    @Persisted var rowid: Int
    @Persisted var value: Int
    @Persisted var owner: String
    @Persisted var like: String
    @Persisted var contains: String
    @Persisted var limit: Int
    @Persisted var unique: Bool
    @Persisted var null: Int?
}

let semanticClasses: [Object.Type] = [Citizen.self, Pet.self, Everything.self, Reserved.self]

extension TemporaryFolder {
    func semanticRealm() throws -> Realm { try Realm(configuration: configuration(types: semanticClasses)) }
}
