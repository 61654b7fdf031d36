public import TomboloModel

/// A write that needs permission: to an object or to one of its lists.
public struct WriteRequest: Sendable {
    public enum Operation: String, Hashable, Sendable {
        case create
        case update
        case delete
        /// Takes an object out of the trash, as a create with its key does.
        case restore
    }

    /// What the changeset is about to do.
    public let operation: Operation
    /// The position of the class whose permissions apply; for list elements, of the class that owns the list.
    public let classIndex: Int
    /// The row before the changeset, or nil for a create. For a restore, the row in the trash.
    public let old: Row?
    /// The row after the changeset, or nil for a delete.
    public let new: Row?
    /// The columns of an existing row that the changeset writes. Writes that lose or don't change the value count too:
    /// otherwise, whether a write is refused could reveal the value of a column that the user can't read.
    public let written: Set<Int>

    public init(operation: Operation, classIndex: Int, old: Row?, new: Row?, written: Set<Int> = []) {
        self.operation = operation
        self.classIndex = classIndex
        self.old = old
        self.new = new
        self.written = written
    }
}
