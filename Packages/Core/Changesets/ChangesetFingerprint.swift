public import TomboloModel

/// Computes ``Changeset/fingerprint(in:)`` from names, step by step, so that it also works for a changeset with names
/// that the reader's schema lacks.
public struct ChangesetFingerprint: Sendable {
    private var hash = StableHash()

    /// Starts with what precedes the instructions.
    public init(number: Int64, stamp: Stamp) {
        hash.add(number)
        hash.add(stamp.microseconds)
    }

    /// Begins an instruction. Follow with ``addCreate(fieldCount:)``, ``addSet(fieldCount:)``,
    /// ``addAddition(_:amount:)`` or ``addErase()``.
    public mutating func beginInstruction(className: String, key: Value) {
        hash.add(className)
        hash.add(key)
    }

    /// Begins a create. Follow with one ``addField(_:_:isDefault:)`` for each field.
    public mutating func addCreate(fieldCount: Int) {
        hash.add(1)
        hash.add(Int64(fieldCount))
    }

    /// Begins a set. Follow with one ``addField(_:_:isDefault:)`` for each field.
    public mutating func addSet(fieldCount: Int) {
        hash.add(2)
        hash.add(Int64(fieldCount))
    }

    /// Adds one field of a create or set, in the changeset's order.
    public mutating func addField(_ property: String, _ value: Value, isDefault: Bool) {
        hash.add(property)
        hash.add(byte: isDefault ? 1 : 0)
        hash.add(value)
    }

    /// Adds an addition to an integer column.
    public mutating func addAddition(_ property: String, amount: Int64) {
        hash.add(3)
        hash.add(property)
        hash.add(amount)
    }

    /// Adds an erase.
    public mutating func addErase() { hash.add(4) }

    /// The fingerprint of everything added so far.
    public var value: Int64 { Int64(bitPattern: hash.value) }
}
