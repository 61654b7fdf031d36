/// What happened to an observed object.
public enum ObjectChange<T> {
    /// The object cannot be observed: its Realm could not be opened where it was to be.
    case error(any Error)
    /// Properties were written, to the values that they had or to others.
    case change(T, [PropertyChange])
    /// The object was deleted. Nothing is told afterwards.
    case deleted
}

/// What happened to a property of an observed object.
public struct PropertyChange {
    /// The property.
    public let name: String
    /// The value that was told last, or that the object had when observing began. Nil for nil, for lists, and where the
    /// object's own Realm wrote, which has no need of it.
    public let oldValue: Any?
    /// The value now; the list itself for lists.
    public let newValue: Any?
}
