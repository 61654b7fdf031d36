public import TomboloModel

/// Makes ``Changeset/fingerprint(in:)`` from names, step by step: also for a changeset that names what the reader's
/// schema does not have.
public struct ChangesetFingerprint: Sendable {
    private var hash = StableHash()

    public init(number: Int64, stamp: Stamp) {
        hash.add(number)
        hash.add(stamp.microseconds)
    }

    /// Begins an instruction; one of the calls that say what it does follows.
    public mutating func beginInstruction(className: String, key: Value) {
        hash.add(className)
        hash.add(key)
    }

    /// The fields follow, each by ``addField(_:_:isDefault:)``.
    public mutating func addCreate(fieldCount: Int) {
        hash.add(1)
        hash.add(Int64(fieldCount))
    }

    /// The fields follow, each by ``addField(_:_:isDefault:)``.
    public mutating func addSet(fieldCount: Int) {
        hash.add(2)
        hash.add(Int64(fieldCount))
    }

    public mutating func addField(_ property: String, _ value: Value, isDefault: Bool) {
        hash.add(property)
        hash.add(byte: isDefault ? 1 : 0)
        hash.add(value)
    }

    public mutating func addAddition(_ property: String, amount: Int64) {
        hash.add(3)
        hash.add(property)
        hash.add(amount)
    }

    public mutating func addErase() { hash.add(4) }

    public var value: Int64 { Int64(bitPattern: hash.value) }
}
