/// What a document's rules ask a box for, in a service without classes.
public enum BoxPurpose: Hashable, Sendable {
    /// Seeing the matrix (`read`), or one of its `operations`.
    case matrix(Operation)
    /// An operation that a class's roles permit on some of its objects, such as `audit`.
    case objects(Operation)
}
