public import TomboloModel

/// One row of the changelog: what happened to one object, by whom and when; never the new row.
public struct LogEntry: Hashable, Sendable {
    public enum Operation: Hashable, Sendable {
        case create
        case update
        /// Also trashing: for devices the object is gone.
        case erase
    }

    /// How a column was changed.
    public enum Mark: Hashable, Sendable {
        case set
        case byDefault
        case add(Int64)
    }

    public let reference: ObjectReference
    public let operation: Operation
    /// Changed columns. A create sets every column: those that are missing here count as ``Mark/set``.
    public let marks: [Int: Mark]
    /// The transaction that wrote it.
    public let xid: UInt64
    public let stamp: Stamp
    /// Nil for plain SQL.
    public let client: ClientID?

    public init(
        reference: ObjectReference, operation: Operation, marks: [Int: Mark], xid: UInt64, stamp: Stamp,
        client: ClientID?
    ) {
        self.reference = reference
        self.operation = operation
        self.marks = marks
        self.xid = xid
        self.stamp = stamp
        self.client = client
    }

    /// What this entry did to a column; nil where it left it alone.
    public func mark(of column: Int) -> Mark? {
        switch operation {
        case .create: marks[column] ?? .set
        case .update: marks[column]
        case .erase: nil
        }
    }
}
