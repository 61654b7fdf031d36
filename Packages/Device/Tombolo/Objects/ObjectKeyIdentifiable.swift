public import TomboloModel

/// Gives a model class an `id` that is equal for all instances of one object, for SwiftUI's `ForEach` and the like.
///
///     class Item: Object, ObjectKeyIdentifiable { … }
public protocol ObjectKeyIdentifiable: Identifiable {
    /// The identity, valid as long as the process runs.
    var id: UInt64 { get }
}

extension ObjectKeyIdentifiable where Self: ObjectBase {
    public var id: UInt64 { UInt64(bitPattern: Int64(hashValue)) }
}
