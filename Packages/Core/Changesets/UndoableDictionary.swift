/// A dictionary that can take back what was done to it since a moment. That costs what was done, and not a copy of all that
/// it holds.
struct UndoableDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var values: [Key: Value] = [:]
    /// The values, or their absence, that the changed keys had at the moment; nil if nothing can be taken back.
    private var before: [Key: Value?]?

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            if before?.keys.contains(key) == false { before?.updateValue(values[key], forKey: key) }
            values[key] = newValue
        }
    }

    /// Removes a value.
    mutating func take(_ key: Key) -> Value? {
        guard let value = values[key] else { return nil }
        self[key] = nil
        return value
    }

    /// What follows can be taken back.
    mutating func begin() { before = [:] }

    /// What was done stays.
    mutating func keep() { before = nil }

    /// Everything is as it was.
    mutating func takeBack() {
        for (key, value) in before ?? [:] { values[key] = value }
        before = nil
    }
}
