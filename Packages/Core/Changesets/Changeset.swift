public import TomboloModel

/// What one local write transaction did: the unit that's uploaded, applied or refused.
public struct Changeset: Hashable, Sendable {
    /// Numbers the changesets of one client from 1 without gaps.
    public var number: Int64
    /// The tick the device was at; everything up to that tick happened before this changeset. 0 before the first batch.
    public var base: Int64
    /// When the transaction committed, on the device's ``HybridClock``. The server clamps it.
    public var stamp: Stamp
    /// What the transaction did, in the order of the app's calls.
    public var instructions: [Instruction]
    /// Set if the reader can't tell what the changeset does, because its schema lacks a class or property that the changeset
    /// names. ``instructions`` is then empty. The server refuses such a changeset and continues with the next one.
    public var defect: ChangesetDefect?
    /// The bytes as first queued, on a device whose app was updated and no longer has a class or property that the
    /// changeset writes. The device uploads these bytes, so that the changeset stays identical to the one the server
    /// may have seen; ``instructions`` has only what the app still knows.
    public var queuedBytes: [UInt8]?
    /// For tracing: the span that the upload belongs to, as a W3C `traceparent` line. It doesn't affect what the
    /// changeset does.
    public var traceparent: String?

    /// A changeset that its reader understands fully.
    public init(number: Int64, base: Int64, stamp: Stamp, instructions: [Instruction]) {
        self.number = number
        self.base = base
        self.stamp = stamp
        self.instructions = instructions
    }

    /// The maximum number of instructions. The device refuses a larger write transaction.
    public static let maximumInstructionCount = 1_000_000
    /// How many times the server lets one changeset erase one object, and how many instructions on it in total it
    /// accepts. Consecutive additions count as one instruction; ``Arbiter`` sums them up. PostgreSQL keeps every version
    /// of a row until the transaction ends and looks at all of them for the next write, so the time that many writes of
    /// one row take grows with the square of their number. Deletions take the longest.
    public static let maximumCountOfObject = (erases: 1_000, instructions: 20_000)
}

/// One step of a changeset. List operations are instructions on the list's element class.
public enum Instruction: Hashable, Sendable {
    /// Creates an object with all its columns except the key. If the key exists, merges field by field.
    case create(ObjectReference, [FieldWrite])
    /// Sets columns of an existing object. If the object is missing, all the writes are lost.
    case set(ObjectReference, [FieldWrite])
    /// Adds to an integer column; concurrent additions all count.
    case add(ObjectReference, column: Int, amount: Int64)
    /// Deletes the object, or moves it into the trash if its class has one. Erasing a missing object does nothing.
    case erase(ObjectReference)

    /// The object the instruction is about.
    public var reference: ObjectReference {
        switch self {
        case .create(let reference, _), .set(let reference, _), .add(let reference, _, _), .erase(let reference):
            reference
        }
    }
}

/// One column's new value.
public struct FieldWrite: Hashable, Sendable {
    /// The column's position in its class.
    public let column: Int
    /// The value to store; a link is stored as its target's key.
    public let value: Value
    /// Whether the value is the property's declared default rather than one that the app set. A default loses to any
    /// explicit write, and to any value the device could have known.
    public let isDefault: Bool

    public init(column: Int, value: Value, isDefault: Bool = false) {
        self.column = column
        self.value = value
        self.isDefault = isDefault
    }
}
