/// A dictionary that can undo its latest changes. Undoing costs time for the changes, not for everything that the
/// dictionary holds.
struct UndoableDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var values: [Key: Value] = [:]
    /// The previous value of each changed key, or nil for a key that had none, oldest change first. Nil if changes
    /// aren't recorded.
    private var changes: [(key: Key, before: Value?)]?

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            let before =
                if let newValue { values.updateValue(newValue, forKey: key) } else { values.removeValue(forKey: key) }
            changes?.append((key, before))
        }
    }

    /// Removes a value and returns it.
    mutating func take(_ key: Key) -> Value? {
        // Skip hashing the key if there is nothing to find.
        guard !values.isEmpty, let value = values.removeValue(forKey: key) else { return nil }
        changes?.append((key, value))
        return value
    }

    /// Reserves space for this many values.
    mutating func reserveCapacity(_ count: Int) { values.reserveCapacity(count) }

    /// Starts recording changes.
    mutating func begin() { changes = [] }

    /// Makes the recorded changes permanent.
    mutating func keep() { changes = nil }

    /// Undoes the recorded changes.
    mutating func takeBack() {
        for (key, value) in (changes ?? []).reversed() { values[key] = value }
        changes = nil
    }
}
