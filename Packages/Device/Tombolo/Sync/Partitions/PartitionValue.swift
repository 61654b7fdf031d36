public import Foundation
public import TomboloModel

/// A value that can identify a partition: a string, a whole number, an `ObjectId`, a `UUID`, or nothing (`NSNull()`,
/// nil), which is the partition of the objects without a partition value.
public protocol PartitionValue {
    /// The value of the partition property in the partition's objects.
    var _partitionValue: Value { get }
    /// The prefix of file names for values of this type.
    static var _partitionPrefix: String { get }
}

extension String: PartitionValue {
    public var _partitionValue: Value { .string(self) }
    public static var _partitionPrefix: String { "s" }
}

extension Int: PartitionValue {
    public var _partitionValue: Value { .int(Int64(self)) }
    public static var _partitionPrefix: String { "l" }
}

extension Int64: PartitionValue {
    public var _partitionValue: Value { .int(self) }
    public static var _partitionPrefix: String { "l" }
}

extension Int32: PartitionValue {
    public var _partitionValue: Value { .int(Int64(self)) }
    public static var _partitionPrefix: String { "i" }
}

extension ObjectId: PartitionValue {
    public var _partitionValue: Value { .objectId(self) }
    public static var _partitionPrefix: String { "o" }
}

extension UUID: PartitionValue {
    public var _partitionValue: Value { .uuid(self) }
    public static var _partitionPrefix: String { "u" }
}

extension NSNull: PartitionValue {
    public var _partitionValue: Value { .null }
    public static var _partitionPrefix: String { "null" }
}

extension Optional: PartitionValue where Wrapped: PartitionValue {
    public var _partitionValue: Value { map(\._partitionValue) ?? .null }
    public static var _partitionPrefix: String { Wrapped._partitionPrefix }
}
