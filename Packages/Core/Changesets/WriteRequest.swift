public import TomboloModel

/// A write that needs permission: on an object, or on a list of it.
public struct WriteRequest: Sendable {
    public enum Operation: String, Hashable, Sendable {
        case create
        case update
        case delete
    }

    public let operation: Operation
    /// The class of the object whose permissions decide: for list elements the class that has the list.
    public let classIndex: Int
    /// The row before; nil for a create.
    public let old: Row?
    /// The row after; nil for a delete.
    public let new: Row?

    public init(operation: Operation, classIndex: Int, old: Row?, new: Row?) {
        self.operation = operation
        self.classIndex = classIndex
        self.old = old
        self.new = new
    }
}
