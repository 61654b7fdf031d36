/// A dictionary that can take back what was done to it since a moment. That costs what was done, and not a copy of all that
/// it holds.
struct UndoableDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var values: [Key: Value] = [:]
    /// The values, or their absence, that keys had before each change since the moment, oldest first; nil if nothing can be
    /// taken back.
    private var changes: [(key: Key, before: Value?)]?

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            let before =
                if let newValue { values.updateValue(newValue, forKey: key) } else { values.removeValue(forKey: key) }
            changes?.append((key, before))
        }
    }

    /// Removes a value.
    mutating func take(_ key: Key) -> Value? {
        // An empty dictionary would look for the key.
        guard !values.isEmpty, let value = values.removeValue(forKey: key) else { return nil }
        changes?.append((key, value))
        return value
    }

    /// Makes room for so many values.
    mutating func reserveCapacity(_ count: Int) { values.reserveCapacity(count) }

    /// What follows can be taken back.
    mutating func begin() { changes = [] }

    /// What was done stays.
    mutating func keep() { changes = nil }

    /// Everything is as it was.
    mutating func takeBack() {
        for (key, value) in (changes ?? []).reversed() { values[key] = value }
        changes = nil
    }
}
