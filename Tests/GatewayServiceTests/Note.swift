import Tombolo

/// The class of tests that need no particular one.
final class Note: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var text: String
}
