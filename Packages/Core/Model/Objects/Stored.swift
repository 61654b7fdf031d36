/// What a property or an element of a list holds, as a store sees it.
public enum Stored: Equatable {
    /// A scalar, or nil.
    case value(Value)
    /// A linked or an embedded object.
    case object(ObjectBase)
}
