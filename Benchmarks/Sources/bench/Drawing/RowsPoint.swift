import TomboloModel

/// A point of a ``RowsStroke``.
final class RowsPoint: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var owner: ObjectId
    @Persisted var rank: String
    @Persisted var x: Double
    @Persisted var y: Double
}
