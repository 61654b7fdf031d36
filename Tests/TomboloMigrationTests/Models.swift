import TomboloModel

/// A home for sale.
final class Listing: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var location: String
    @Persisted var price: Int
    @Persisted var bedrooms: Int
}

/// A visit to a home.
final class Viewing: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var listing: Listing?
    @Persisted var visitor: String
    @Persisted var remarks: List<String>

    override class func uniqueProperties() -> [[String]] { [["listing", "visitor"]] }
    override class func isTrashable() -> Bool { true }
}

/// A member of a club: a class of another app.
final class Member: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var name: String
}
