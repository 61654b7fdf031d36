/// What happened to an observed object.
public enum ObjectChange<T> {
    /// The object can't be observed, because its Realm couldn't be opened in the requested place.
    case error(any Error)
    /// Properties were written, possibly with unchanged values.
    case change(T, [PropertyChange])
    /// The object was deleted. No notification follows.
    case deleted
}

/// A change of an observed object's property.
public struct PropertyChange {
    /// The property's name.
    public let name: String
    /// The last reported value, or the value when observation began. Nil if that value was nil, for lists, and for
    /// writes by the object's own Realm.
    public let oldValue: Any?
    /// The current value; for lists, the list itself.
    public let newValue: Any?
}
