public import TomboloModel

/// A write that needs permission: to an object or to one of its lists.
public struct WriteRequest: Sendable {
    public enum Operation: String, Hashable, Sendable {
        case create
        case update
        case delete
    }

    /// What the changeset wants to do.
    public let operation: Operation
    /// The position of the class whose permissions apply; for list elements, of the class that owns the list.
    public let classIndex: Int
    /// The row before the changeset, or nil for a create.
    public let old: Row?
    /// The row after the changeset, or nil for a delete.
    public let new: Row?

    public init(operation: Operation, classIndex: Int, old: Row?, new: Row?) {
        self.operation = operation
        self.classIndex = classIndex
        self.old = old
        self.new = new
    }
}
