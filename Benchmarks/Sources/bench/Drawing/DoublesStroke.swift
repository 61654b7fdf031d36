import Foundation
import TomboloModel

/// A stroke with its points in one column of doubles, as an app would declare it. Used to measure with the changelog.
final class DoublesStroke: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var drawing: ObjectId
    @Persisted var rank: String
    @Persisted var color: String
    @Persisted var width: Double
    @Persisted var points: Data
}
