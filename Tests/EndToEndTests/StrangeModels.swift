import TomboloModel

/// Classes that the server does not have as they are here.
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
