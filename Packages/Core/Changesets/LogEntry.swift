public import TomboloModel

/// One row of the changelog: what happened to one object, who did it and when. It doesn't contain the new row.
public struct LogEntry: Hashable, Sendable {
    public enum Operation: Hashable, Sendable {
        case create
        case update
        /// Includes a move into the trash, because devices no longer see the object.
        case erase
    }

    /// How a column was changed.
    public enum Mark: Hashable, Sendable {
        /// Set to an explicit value.
        case set
        /// Set to the declared default when the object was created.
        case byDefault
        /// Increased by an amount, which may be negative.
        case add(Int64)
    }

    /// The object the entry is about.
    public let reference: ObjectReference
    /// What happened to it.
    public let operation: Operation
    /// The changed columns, by position. A create sets every column, so columns missing here count as ``Mark/set``.
    public let marks: [Int: Mark]
    /// The PostgreSQL transaction that wrote the entry.
    public let xid: UInt64
    /// When it was written: the changeset's stamp, or the server's clock for plain SQL.
    public let stamp: Stamp
    /// The device that wrote it, or nil for plain SQL.
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
}
