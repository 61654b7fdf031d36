public import TomboloModel

/// What the server writes for a changeset, after arbitration.
public enum RowWrite: Hashable, Sendable {
    /// Inserts a whole new row. `defaults` are the columns that the app didn't set.
    case insert(ObjectReference, Row, defaults: Set<Int>)
    /// Updates columns of an existing row. `value` is the final value even for additions; their amount is in the mark.
    case update(ObjectReference, [ColumnWrite])
    /// Deletes the row, or moves it into the trash if the class has one.
    case erase(ObjectReference)

    /// The object whose row is written.
    public var reference: ObjectReference {
        switch self {
        case .insert(let reference, _, _), .update(let reference, _), .erase(let reference): reference
        }
    }
}

/// One column of an update.
public struct ColumnWrite: Hashable, Sendable {
    /// The column's position in its class.
    public let column: Int
    /// The value to store.
    public let value: Value
    /// How the changelog records the write.
    public let mark: LogEntry.Mark

    public init(column: Int, value: Value, mark: LogEntry.Mark) {
        self.column = column
        self.value = value
        self.mark = mark
    }
}
