// Written for property wrappers already: nothing changes.
import RealmSwift

class Listing: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var location: String
    @Persisted var price: Int
    @Persisted var bedrooms: Int
}

class Drawing: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name = UUID().uuidString
    @Persisted var lines = RealmSwift.List<Line>()
}

class Line: EmbeddedObject {
    @Persisted var lineWidth: Double = 5.0
    @Persisted var linePoints = RealmSwift.List<Double>()
}
