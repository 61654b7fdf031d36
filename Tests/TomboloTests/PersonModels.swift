import Tombolo
import TomboloModel

class Person: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var name: String
    @Persisted var home: Address?
    @Persisted var others: List<Address>
    @Persisted var tags: List<String>
    @Persisted var scores: List<Int?>
    @Persisted var dogs: List<Dog>
    @Persisted var best: Dog?

    convenience init(_ id: Int, _ name: String = "") {
        self.init()
        _id = id
        self.name = name
    }
}

/// Embedded, and contains an embedded object, a list of objects and a list in a column.
class Address: EmbeddedObject {
    @Persisted var street: String
    @Persisted var city = "Nowhere"
    @Persisted var spot: Spot?
    @Persisted var visitors: List<Dog>
    @Persisted var rooms: List<RoomInfo>
    @Persisted var codes: List<Int>

    convenience init(_ street: String, _ city: String? = nil) {
        self.init()
        self.street = street
        if let city { self.city = city }
    }
}

class Spot: EmbeddedObject {
    @Persisted var x: Double
    @Persisted var y: Double
    @Persisted var note: String?
}

/// Embedded in the elements of a list, or in an embedded object's list.
class RoomInfo: EmbeddedObject {
    @Persisted var name: String
    @Persisted var size: Int
}

/// Without a primary key, and linked to.
class Dog: Object {
    @Persisted var name: String
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
    @Persisted(originProperty: "best") var admirers: LinkingObjects<Person>

    convenience init(_ name: String) {
        self.init()
        self.name = name
    }
}

class Order: Object {
    @Persisted(primaryKey: true) var _id: String
}

class Attendee: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(onDelete: .cascade) var order: Order?
    @Persisted(onDelete: .cascade) var guestOf: Attendee?
}

let personClasses: [Object.Type] = [Person.self, Dog.self, Order.self, Attendee.self]
