public import TomboloModel

/// Gives ``KeyPathIncrementable/increment(_:by:)`` the object's own class.
public protocol KeyPathIncrementable: Object {}

extension Object: KeyPathIncrementable {}

extension KeyPathIncrementable {
    /// Adds to an integer property. Call this in a write transaction. `x.count += 1` merely sets the property; with
    /// `increment`, concurrent additions by several devices all count.
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
