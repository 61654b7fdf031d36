public import TomboloModel

/// A home for sale.
public final class Listing: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var location: String
    /// In whole dollars.
    @Persisted public var price: Int
    @Persisted public var bedrooms: Int
}
