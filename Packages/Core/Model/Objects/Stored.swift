/// The content of a property or list element, as a store sees it.
public enum Stored: Equatable {
    /// A scalar, or nil.
    case value(Value)
    /// A linked or embedded object.
    case object(ObjectBase)
}
