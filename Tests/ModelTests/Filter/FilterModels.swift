import Foundation
import TomboloModel

enum Size: Int, PersistableEnum {
    case small = 1
    case large = 3
}

struct Weight: CustomPersistable, Equatable {
    var kilograms: Double
    init(kilograms: Double) { self.kilograms = kilograms }
    init(persistedValue: Double) { self.init(kilograms: persistedValue) }
    var persistableValue: Double { kilograms }
}

struct Spot: CustomPersistable {
    var x: Double
    var y: Double
    init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
    init(persistedValue: SpotRecord) { self.init(x: persistedValue.x, y: persistedValue.y) }
    var persistableValue: SpotRecord {
        let record = SpotRecord()
        record.x = x
        record.y = y
        return record
    }
}

final class SpotRecord: EmbeddedObject {
    @Persisted var x: Double
    @Persisted var y: Double
}

final class Home: EmbeddedObject {
    @Persisted var street: String
    @Persisted var city: String?
    @Persisted var spot: SpotRecord?
    @Persisted var guest: Owner?
    @Persisted var rooms: List<Int>
}

final class Owner: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name: String
    @Persisted var nick: String?
    @Persisted var age: Int
    @Persisted var limit: Int8?
    @Persisted var ratio: Float
    @Persisted var score: Double?
    @Persisted var isActive: Bool
    @Persisted var born: Date?
    @Persisted var token: UUID
    @Persisted var photo: Data?
    @Persisted var size: Size
    @Persisted var otherSize: Size?
    @Persisted var weight: Weight
    @Persisted var spot: Spot
    @Persisted var home: Home?
    @Persisted var best: Dog?
    @Persisted var dogs: List<Dog>
    @Persisted var scores: List<Int>
    @Persisted var price: Decimal128
    @Persisted var prices: List<Decimal128?>
    @Persisted var tags: List<String?>
    @Persisted var days: List<Date>
    @Persisted var visits: List<Visit>
    @Persisted var `in`: Int
    @Persisted(encrypted: true) var secret: String
}

final class Dog: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var weight: Double?
    @Persisted var isGood: Bool
    @Persisted var friend: Dog?
    @Persisted var puppies: List<Dog>
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Owner>
    @Persisted(originProperty: "best") var admirers: LinkingObjects<Owner>
}

final class Visit: EmbeddedObject {
    @Persisted var place: String
    @Persisted var cost: Int?
    @Persisted var dog: Dog?
    @Persisted var stops: List<Stop>
}

final class Stop: EmbeddedObject {
    @Persisted var minutes: Int
    @Persisted var dog: Dog?
}

extension Schema {
    private static let ownersOnce = Result { try Schema.of([Owner.self]) }

    static var owners: Schema {
        get throws { try ownersOnce.get() }
    }
}
