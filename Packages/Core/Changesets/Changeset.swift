public import TomboloModel

/// What one local write transaction did.
public struct Changeset: Hashable, Sendable {
    /// Counts the changesets of one client from 1, without gaps.
    public var number: Int64
    /// The tick that the device stood on: everything in it happened before this changeset. 0 before the first batch.
    public var base: Int64
    public var stamp: Stamp
    public var instructions: [Instruction]
    /// Why the reader cannot say what the changeset does: its schema lacks a class or property that it names.
    /// ``instructions`` is empty then. The server refuses such a changeset, and goes on with those behind it.
    public var defect: ChangesetDefect?
    /// On a device, after an app update dropped classes or properties that the changeset writes: its bytes as first
    /// queued. They are uploaded, so that the changeset stays the one that the server may have seen;
    /// ``instructions`` has only what the app still knows.
    public var queuedBytes: [UInt8]?

    public init(number: Int64, base: Int64, stamp: Stamp, instructions: [Instruction]) {
        self.number = number
        self.base = base
        self.stamp = stamp
        self.instructions = instructions
    }

    /// Bounds of one changeset; a larger write transaction is refused on the device.
    public static let maximumInstructionCount = 1_000_000
}

/// One step of a changeset. List operations are instructions on the list's element class.
public enum Instruction: Hashable, Sendable {
    /// A new object with all its columns but the key, or, where the key exists, a field-by-field merge.
    case create(ObjectReference, [FieldWrite])
    case set(ObjectReference, [FieldWrite])
    /// Adds to an integer column; concurrent additions all count.
    case add(ObjectReference, column: Int, amount: Int64)
    case erase(ObjectReference)

    public var reference: ObjectReference {
        switch self {
        case .create(let reference, _), .set(let reference, _), .add(let reference, _, _), .erase(let reference):
            reference
        }
    }
}

/// One column's new value.
public struct FieldWrite: Hashable, Sendable {
    public let column: Int
    public let value: Value
    /// From the declaration rather than from the app: loses to any explicit write, and to whatever an object has that
    /// the device knew of.
    public let isDefault: Bool

    public init(column: Int, value: Value, isDefault: Bool = false) {
        self.column = column
        self.value = value
        self.isDefault = isDefault
    }
}
