public import TomboloModel

/// Lets ``KeyPathIncrementable/increment(_:by:)`` name the class of the object.
public protocol KeyPathIncrementable: Object {}

extension Object: KeyPathIncrementable {}

extension KeyPathIncrementable {
    /// Adds to an integer property. Unlike `x.count += 1`, which is a set, additions made on several devices at the
    /// same time all count.
    public func increment<Number: PersistableInteger>(
        _ keyPath: ReferenceWritableKeyPath<Self, Number>, by amount: Number = 1
    ) {
        guard let row = accessor as? ManagedRow else {
            self[keyPath: keyPath] += amount
            return
        }
        let names = PropertyPath(of: keyPath).names
        guard names.count == 1, let column = row.schema.columnIndex(names[0]) else {
            programError("increment needs a property of \(className) itself, not one behind a link.")
        }
        row.add(Int64(amount), at: column)
    }
}
