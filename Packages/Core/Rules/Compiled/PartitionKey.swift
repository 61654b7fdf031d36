public import TomboloModel

/// The property that says which partition an object is in.
public enum PartitionKey {
    /// Its names where no rule document declares one, the first that a class has.
    public static let names = ["_partition", "partition"]

    /// Whether a property of this type can be one.
    /// - Parameter type: a stored type: for a link the type of its target's key.
    public static func canHold(_ type: PropertyType) -> Bool {
        switch type {
        case .string, .int, .objectId, .uuid: true
        default: false
        }
    }
}
