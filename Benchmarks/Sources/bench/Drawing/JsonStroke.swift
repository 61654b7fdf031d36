import TomboloModel

/// A stroke with its points in one column of JSON.
final class JsonStroke: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var drawing: ObjectId
    @Persisted var rank: String
    @Persisted var color: String
    @Persisted var width: Double
    @Persisted var points: String
}
