import TomboloModel

/// A stroke whose points are separate objects.
final class RowsStroke: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var drawing: ObjectId
    @Persisted var rank: String
    @Persisted var color: String
    @Persisted var width: Double
}
