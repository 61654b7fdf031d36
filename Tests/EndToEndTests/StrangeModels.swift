import TomboloModel

/// Classes that differ from the server's, or that the server doesn't have.
enum StrangeModels {
    final class Castle: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var towers: Int
    }

    final class Listing: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var ghosts: Int
    }
}
