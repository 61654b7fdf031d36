/// What a document's rules ask a box of a service without classes for.
public enum BoxPurpose: Hashable, Sendable {
    /// To see the matrix (`read`), or for one of its `operations`.
    case matrix(Operation)
    /// For an operation of a class's roles on some of its objects, such as `audit`.
    case objects(Operation)
}
