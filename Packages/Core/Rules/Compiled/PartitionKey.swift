public import TomboloModel

/// The property that says which partition an object is in.
public enum PartitionKey {
    /// The names to look for if no rule document declares the property. The first one that a class has counts.
    public static let names = ["_partition", "partition"]

    /// Whether a property of this type can be a partition key.
    /// - Parameter type: a stored type; for a link, the type of its target's key.
    public static func canHold(_ type: PropertyType) -> Bool {
        switch type {
        case .string, .int, .objectId, .uuid: true
        default: false
        }
    }
}
