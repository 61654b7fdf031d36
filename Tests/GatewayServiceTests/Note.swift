import Tombolo

/// A class for tests that don't need a particular one.
final class Note: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var text: String
}
